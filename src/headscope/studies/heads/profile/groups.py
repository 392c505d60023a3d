"""Attention to groups of tokens: the pieces of a small vocabulary, and the classes that a corpus gives its words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import FIRST_OF_TEXT, Batch, Values
from headscope.measures._frequency import from_text, multiples, uniform
from headscope.models import Model
from headscope.models.fast_tokenizer import MOST_PIECES
from headscope.passes.measures import Measure
from headscope.results.variables import Variable
from headscope.studies.heads.profile import STUDY
from headscope.studies.heads.profile.piece_pairs import PieceMembers, pair_measures

# Ends of the names of the two numbers of a group: a share, and a multiple of that of uniform attention.
SHARE, MULTIPLE = "attention", "multiple"
Members = Callable[[Batch], Float[Tensor, "example token group"]]


@dataclass
class GroupAttention:
    """A measure of the attention that each group of tokens gets from the tokens of a text.

    * `members`: 1 for the tokens of each group. `causal`: whether tokens see none after them.
    """

    VARIABLE: Variable
    members: Members
    causal: bool
    observe = staticmethod(from_text)

    def finish(self, observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
        """The share, or the multiple, of each group; examples without a token of it are not valid."""
        members, tokens = self.members(batch), batch.lengths[:, None]
        positions = torch.arange(1, batch.real.shape[1] + 1, device=observed.device)
        even = (uniform(batch, positions if self.causal else tokens)[:, None] @ members)[:, 0]
        if self.VARIABLE.name.endswith(MULTIPLE):
            return Values(multiples(observed @ members, even), even > 0)
        queries = (batch.token_class >= FIRST_OF_TEXT).sum(-1).clamp_min(1)
        return Values(observed @ members / queries[:, None, None], even > 0)


@dataclass(frozen=True)
class ClassMembers:
    """The tokens of the words of each class."""

    names: tuple[str, ...]

    def __call__(self, batch: Batch) -> Float[Tensor, "example token group"]:
        """1 for the tokens of each class; a token that words of several classes share is in all of them."""
        words, number = batch.sum_of_pieces, {name: number for number, name in enumerate(self.names)}
        group = torch.full((len(words), words.shape[-1]), -1)
        for row, example in zip(group, batch.examples, strict=True):
            named = [name for sentence in example.sentences for name in sentence.classes]
            row[: len(named)] = torch.tensor([number.get(name, -1) for name in named])
        members = group[..., None] == torch.arange(len(number))  # [example, word, group]
        return (words @ members.float().to(words.device)).clamp_max(1)


def group_measures(model: Model, classes: tuple[str, ...]) -> list[Measure]:
    """The measures of the pieces of a model, where these are few, and of some classes of words."""
    tokenizer, special = model.tokenizer, set(model.tokenizer.all_special_tokens)
    # A large vocabulary is not listed: that takes longer than a batch.
    vocabulary = tokenizer.get_vocab() if len(tokenizer) <= MOST_PIECES + len(special) else {}
    names = sorted(vocabulary.keys() - special)
    measures: list[Measure] = []
    if 0 < len(names) <= MOST_PIECES:
        members = PieceMembers(tuple(vocabulary[name] for name in names))
        measures += _both(model, "piece", names, members) + pair_measures(
            tuple(names), members, causal=not model.looks_ahead
        )
    return [*measures, *(_both(model, "word_class", classes, ClassMembers(classes)) if classes else [])]


def _both(model: Model, dim: str, names: Iterable[str], members: Members) -> list[GroupAttention]:
    numbers = [STUDY.labels[f"{dim}_{kind}"] for kind in (SHARE, MULTIPLE)]
    labels = [Variable(number.name, number.what, number.unit, STUDY.source, {dim: tuple(names)}) for number in numbers]
    return [GroupAttention(variable, members, not model.looks_ahead) for variable in labels]

"""The attention of each head to each class of token, and along each relation, in single examples."""

from collections import defaultdict
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import BlockParts
from headscope.linguistics.dependencies import ROOT, dependencies_of
from headscope.measures import attention_to
from headscope.passes.observing import MeasureObserver, RowsObserver
from headscope.results.vocabulary import TOKEN_CLASSES

# A focus is a class of token or a relation; of examples without it there is no row.
Focus = dict[str, tuple[Int[np.ndarray, " example"], Float[np.ndarray, "example head"]]]
# Attention to one token is high where there are few others: short examples are kept apart, below this prefix.
FEW_TOKENS, SHORT = 12, "short: "
DIRECTIONS = ("dependent to head", "head to dependent")


class FocusObserver(RowsObserver):
    """Keep, of each example of a batch, the mean attention of each head to each focus; heads of all layers in a row.

    A class of token: the share of attention that it gets (`measures.attention_to`). A relation: the mean attention
    between the words that it links, from the dependent to the head and from the head to the dependent.
    """

    def __init__(self) -> None:
        self.measure = MeasureObserver(MappingProxyType({"attention_to": attention_to}))

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare the relations of this one."""
        self.batch = batch
        self.measure.start(batch)
        self.between = BlockParts(batch.real.shape[1], self._of_links)
        self.links = _links(batch)

    def add(self, layer: int, rows: Rows) -> None:
        self.measure.add(layer, rows)
        if self.links:
            self.between.add(layer, rows, rows.between_words)

    def finish(self) -> Focus:
        """The examples that have each focus, by their number in the corpus, and their values.

        Examples of fewer than 12 tokens are at the name of the focus with the prefix `SHORT`.
        """
        short = dict(zip(self.batch.index.tolist(), (self.batch.real.sum(1) < FEW_TOKENS).tolist(), strict=True))
        focus: Focus = {}
        for name, (examples, values) in self._values().items():
            few = np.array([short[example] for example in examples.tolist()])
            for prefix, rows in (("", ~few), (SHORT, few)):
                if rows.any():
                    focus[prefix + name] = examples[rows], values[rows]
        return focus

    def _values(self) -> Focus:
        """The examples that have each focus, and their values."""
        number = self.batch.index.numpy()
        classes = self.measure.finish()["attention_to"]
        exists = classes.valid.all(0).tolist()
        shares = classes.values.cpu().numpy()  # [example, head, token_class]
        focus: Focus = {name: (number, shares[..., index]) for index, name in enumerate(TOKEN_CLASSES) if exists[index]}
        if not self.links:
            return focus
        means = self.between.joined().cpu().numpy()  # [pair, head, direction]
        pairs = list(self.links)
        for relation in dict.fromkeys(relation for _, relation in pairs):
            rows = [row for row, (_, name) in enumerate(pairs) if name == relation]
            examples = number[[pairs[row][0] for row in rows]]
            for index, direction in enumerate(DIRECTIONS):
                focus[f"{relation}: {direction}"] = (examples, means[rows][..., index])
        return focus

    def _of_links(
        self, between: Float[Tensor, "example head word word"], rows: Rows
    ) -> Float[Tensor, "pair head direction"]:
        """The mean attention of the links of each pair of an example and a relation."""
        means = [torch.empty(0, between.shape[1], len(DIRECTIONS), device=between.device)]
        for (example, _), links in self.links.items():
            if rows.examples.start <= example < rows.examples.stop:
                dependent, head = torch.tensor(links, device=between.device).T  # [link] each
                here = between[example - rows.examples.start]
                both = torch.stack([here[:, dependent, head], here[:, head, dependent]], dim=-1)
                means.append(both.mean(1)[None])
        return torch.cat(means)


def _links(batch: Batch) -> dict[tuple[int, str], list[tuple[int, int]]]:
    """The links (dependent, head) of each relation in each example, where both words have a token."""
    links: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    if not any(sentence.heads for example in batch.examples for sentence in example.sentences):
        return links
    for index, (example, has_token) in enumerate(zip(batch.examples, batch.has_token.tolist(), strict=True)):
        for word in dependencies_of(example):
            if word.head != ROOT and has_token[word.word] and has_token[word.head]:
                links[index, word.relation].append((word.word, word.head))
    return links

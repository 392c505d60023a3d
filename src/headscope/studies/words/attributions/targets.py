"""The number of a model that is explained: a class, a predicted word, or the representation of a text.

Each target reads a vector of the output of the network. The vector of the whole input is the reference; a score says
how much of it is left when tokens are blanked, and the objective is the scalar whose gradients are taken.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize
from transformers import PreTrainedModel

from headscope.encoding.batch import Batch
from headscope.models import Model
from headscope.models.prediction_heads import has_masked_lm_head, has_next_word_head, refuse_without_words_head
from headscope.models.sentence_modules import MEAN, SentenceModules, sentence_modules
from headscope.outputs.words.few_tokens import head_at
from headscope.results.vocabulary import TOKEN_CLASSES

Pooling = Literal["model", "mean", "first"]
Kind = Literal["class", "number", "word", "representation"]
Vectors = Float[Tensor, "example number"]
NAMES: dict[Kind, str] = {
    "class": "probability of the class that is predicted for the whole input",
    "number": "predicted number",
    "word": "probability of the word piece that is predicted at a masked token",
    "representation": "cosine of the text's representation with that of the whole input",
}
STATES: dict[tuple[str, ...], str] = {
    ("mean",): "mean of the states of all tokens",
    ("first",): "state of the first token",
}
# How outputs differ, in words; see `Target.distance`.
DISTANCES: dict[Kind, str] = {
    "class": "total variation of the probabilities of classes",
    "number": "difference of the predicted numbers",
    "word": "total variation of the probabilities of word pieces",
    "representation": "cosine distance of representations",
}


@dataclass(frozen=True)
class Target:
    """A target of a model.

    * `kind`: a key of `NAMES`.
    * `modules`: of a representation: what makes it of the last layer's states.
    * `masks`: True if one token of each input is masked, and is what the model predicts.
    * `alone`: True if the head is known to read each state by itself, so that it may get those that are read alone.
    """

    kind: Kind
    modules: SentenceModules = MEAN
    masks: bool = False
    alone: bool = False

    @property
    def name(self) -> str:
        """The target in words, for a result."""
        if self.kind == "representation":
            ways = STATES.get(self.modules.pooling, f"of states: {' and '.join(self.modules.pooling)}")
            maps = f", {number} linear maps" if (number := len(self.modules.layers)) else ""
            return f"{NAMES[self.kind]} ({ways}{maps})"
        return NAMES[self.kind] if self.masks or self.kind != "word" else "probability of the predicted next word piece"

    @property
    def differentiated(self) -> str:
        """The objective in words: integrated gradients add up to its difference."""
        along = self.name.replace("cosine", "length", 1).replace(" with ", " along ", 1)
        return f"logarithm of the {self.name}" if self.kind in ("class", "word") else along

    def blankable(self, batch: Batch, positions: Int[Tensor, " example"]) -> Bool[Tensor, "example token"]:
        """The tokens that may be blanked: real, not [CLS] or [SEP], and not where a word is predicted."""
        special = [TOKEN_CLASSES.index(name) for name in ("cls", "sep")]
        free = batch.real & ~torch.isin(batch.token_class, torch.tensor(special, device=batch.real.device))
        if self.kind == "word":
            free[torch.arange(len(positions)), positions] = False
        return free

    @contextmanager
    def read(self, network: PreTrainedModel, positions: Int[Tensor, " example"]) -> Iterator[Int[Tensor, " example"]]:
        """Within this context the head of words gets the states at some positions, one of each input, and no others.

        Of a large vocabulary the logits of all tokens take more time and memory than the layers. Yields the positions
        in the output of the network. One position serves all copies of an input.
        """
        if not (self.alone and self.kind == "word"):
            yield positions
            return
        with head_at(network, positions[:, None]):
            yield torch.zeros_like(positions)

    def vectors(self, output: Any, real: Float[Tensor, "example token"], positions: Int[Tensor, " example"]) -> Vectors:
        """Log-probabilities of classes or words, numbers, or representations.

        * `output`: of the network; `real`: 1 for tokens that are seen.
        * `positions`: of the token at which a word is predicted.
        """
        if self.kind == "representation":
            first = self.modules.pooling == ("first",)  # the first token's state, though it be hidden or the only one
            return self.modules(output.last_hidden_state.float(), torch.ones_like(real) if first else real)
        logits = output.logits.float()
        if self.kind == "number":
            return logits.reshape(len(logits), -1)[:, :1]
        if self.kind == "word":
            logits = logits[torch.arange(len(positions), device=logits.device), positions]
        return logits - logits.logsumexp(-1, keepdim=True)

    def scores(self, vectors: Vectors, reference: Vectors) -> Float[Tensor, " example"]:
        """The target of inputs of which tokens are blanked; `reference` are the vectors of the whole inputs."""
        if self.kind == "representation":
            return cosine_similarity(vectors, reference, dim=-1)
        objective = self.objective(vectors, reference)
        return objective if self.kind == "number" else objective.exp()

    def distance(self, vectors: Vectors, reference: Vectors) -> Float[Tensor, " example"]:
        """How far outputs are from the `reference`, that of the input as it is.

        Total variation of the probabilities of classes or words, difference of numbers, 1 minus the cosine of
        representations.
        """
        if self.kind == "representation":
            return cosine_distances(vectors, reference)
        if self.kind == "number":
            return (vectors - reference).abs()[:, 0]
        return (vectors.exp() - reference.exp()).abs().sum(-1) / 2

    def flipped(self, vectors: Vectors, reference: Vectors) -> Float[Tensor, " example"]:
        """1 where another class or word is the most probable one, else 0; NaN for numbers and representations."""
        if self.kind in ("number", "representation"):
            return vectors.new_full((len(vectors),), torch.nan)
        return (vectors.argmax(-1) != reference.argmax(-1)).to(vectors.dtype)

    def objective(self, vectors: Vectors, reference: Vectors) -> Float[Tensor, " example"]:
        """The scalar whose gradients are taken.

        The log-probability of what is predicted for the whole input, the number, or the length of the representation
        along that of the whole input: the cosine with it is 1, its maximum, where the gradient is 0.
        """
        if self.kind == "representation":
            length = torch.linalg.vector_norm(reference, dim=-1).clamp_min(torch.finfo(torch.float32).tiny)
            return torch.linalg.vecdot(vectors, reference) / length
        if self.kind == "number":
            return vectors[:, 0]
        return vectors.gather(1, reference.argmax(-1, keepdim=True))[:, 0]


def target_of(model: Model, pooling: Pooling = "model") -> Target:
    """The target of a model, by its head.

    * `pooling`: of a representation; "model" as the model's folder makes it for sentence-transformers, else the mean.

    Raises `HeadscopeError` for a model with a head for words that predicts none; see `prediction_heads.no_words`.
    """
    name = type(model.network).__name__
    masks = has_masked_lm_head(model.network)
    if masks or has_next_word_head(model.network):
        refuse_without_words_head(model)
        return Target("word", masks=masks)
    if name.endswith("ForSequenceClassification"):
        return Target("number" if model.network.config.num_labels == 1 else "class")
    if pooling != "model":
        return Target("representation", SentenceModules((pooling,)))
    return Target("representation", sentence_modules(model.network).direction)


def cosine_distances(
    ones: Float[Tensor, "*dims width"], others: Float[Tensor, "*dims width"]
) -> Float[Tensor, "*dims"]:
    """1 - cosine, as |u - v|^2 / 2 of vectors of length 1: the difference from 1 has no digits left where it is small.

    >>> f"{cosine_distances(torch.tensor([1.0, 1e-6]), torch.tensor([1.0, 0.0])).item():.1e}"
    '5.0e-13'
    """
    return (normalize(ones, dim=-1) - normalize(others, dim=-1)).square().sum(-1) / 2

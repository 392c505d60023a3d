"""Inputs of a measure: a batch of examples on the device, and a block of rows of one layer's attention."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.types import Example

QUERY_GROUPS = ("all", "sep", "cls")


@dataclass(frozen=True)
class Batch:
    """Examples that go through the model together, padded on the right.

    * `inputs`: what the model is called with, each [example, token].
    * `index`: the number of each example in its corpus, from 0; it seeds the bootstrap.
    * `real`: which tokens are not padding.
    * `token_class`: the number of each token's class in `results.TOKEN_CLASSES`; -1 for padding.
    * `class_exists`: which classes the tokenizer has at all (GPT-2 has no cls).
    * `features`: rows (example, feature, token), sorted by example.
    * `links`: rows (example, relation, query, key), sorted by example.
    * `link_ends`: how many rows of `links` belong to the examples before the one with that number.
    * `examples`: the examples themselves, and `pieces`: rows (example, word, token), words numbered through all
      sentences of an example; only where the words are asked for (`Words(aligned=True)`).
    """

    inputs: Mapping[str, Int[Tensor, "example token"]]
    index: Int[Tensor, " example"]
    real: Bool[Tensor, "example token"]
    token_class: Int[Tensor, "example token"]
    class_exists: Bool[Tensor, " token_class"]
    features: Int[Tensor, "feature_row 3"]
    links: Int[Tensor, "link_row 4"]
    link_ends: tuple[int, ...]
    examples: tuple[Example, ...] = ()
    pieces: Int[Tensor, "piece_row 3"] | None = None

    @cached_property
    def lengths(self) -> Float[Tensor, " example"]:
        """The number of real tokens of each example."""
        return self.real.sum(-1).to(torch.float32)

    @cached_property
    def query_groups(self) -> Float[Tensor, "example group token"]:
        """Membership of the tokens in each of `QUERY_GROUPS`, as ones and zeros."""
        groups = (self.real, self.token_class == 1, self.token_class == 0)
        return torch.stack(groups, dim=1).to(torch.float32)

    @cached_property
    def sum_of_pieces(self) -> Float[Tensor, "example token word"]:
        """1 for the tokens of each word: attention to tokens times this is attention to words.

        Raises `RuntimeError` where the words were not asked for.
        """
        if self.pieces is None:
            raise RuntimeError("a measure of words needs them: read the corpus with Words(..., aligned=True)")
        words = max((example.n_words for example in self.examples), default=0)
        members = torch.zeros(*self.real.shape, words, device=self.real.device)
        example, word, token = self.pieces.unbind(-1)
        members[example, token, word] = 1
        return members

    @cached_property
    def mean_of_pieces(self) -> Float[Tensor, "example word token"]:
        """1 over their number for the tokens of each word: this times attention of tokens is attention of words."""
        return (self.sum_of_pieces / self.sum_of_pieces.sum(1, keepdim=True).clamp_min(1)).mT

    @cached_property
    def first_of_pieces(self) -> Float[Tensor, "example word token"]:
        """1 for the first token of each word, in the place of `mean_of_pieces`, as in the code of Clark et al."""
        return (self.sum_of_pieces * (self.sum_of_pieces.cumsum(1) == 1)).mT

    @cached_property
    def has_token(self) -> Bool[Tensor, "example word"]:
        """Mask of the words that have a token; padding, and words that were dropped or cut off, have none."""
        return self.sum_of_pieces.sum(1) > 0


@dataclass(frozen=True)
class Rows:
    """The attention of a block of queries to all keys, for some examples of a batch, in one layer.

    Padded keys have attention 0; padded queries are there and must not be counted. `scores` are the scores
    that went into the softmax, less the largest of each row; None where the model does not show them.
    """

    attention: Float[Tensor, "example head query key"]
    batch: Batch
    examples: slice
    queries: slice
    scores: Float[Tensor, "example head query key"] | None = None

    @cached_property
    def received(self) -> Float[Tensor, "example head group key"]:
        """The attention that each key gets from this block's queries, summed over each of `QUERY_GROUPS`."""
        groups = self.batch.query_groups[self.examples, None, :, self.queries]
        return groups @ self.attention

    @cached_property
    def entropy(self) -> Float[Tensor, "example head query"]:
        """-sum_j A log A of each row, in nats."""
        if self.scores is None:
            return torch.special.entr(self.attention).sum(-1)
        # With the scores s at hand log A = s + log max A: one logarithm a row instead of one a cell.
        return -torch.linalg.vecdot(self.attention, self.scores) - self.attention.amax(-1).log()

    @cached_property
    def squares(self) -> Float[Tensor, "example head query"]:
        """The sum of the squares of each row."""
        return torch.linalg.vecdot(self.attention, self.attention)

    @cached_property
    def between_words(self) -> Float[Tensor, "example head word word"]:
        """This block's part of the attention of each word to each word; the parts of all blocks add up to it.

        To a word it is the sum over the word's tokens, from a word the mean over them (Clark et al. 2019, section
        4.1): with what goes to special tokens, a word's row sums to 1.
        """
        return self.from_words(self.batch.mean_of_pieces)

    def from_words(self, sources: Float[Tensor, "example word token"]) -> Float[Tensor, "example head word word"]:
        """Attention of each word to each word as in `between_words`, with `sources` as the weights of query tokens."""
        members = self.batch.sum_of_pieces[self.examples]
        # [example, head_query, key] @ [example, key, word] -> [example, head, query, word]
        to_words = (self.attention.flatten(1, 2) @ members).unflatten(1, self.attention.shape[1:3])
        return sources[self.examples, None, :, self.queries] @ to_words

    @property
    def real_queries(self) -> Float[Tensor, "example 1 query 1"]:
        """1 for the real queries of the block, 0 for padding: a column vector that sums rows."""
        return self.batch.query_groups[self.examples, None, 0, self.queries, None]


@dataclass(frozen=True)
class Values:
    """A statistic of each example of a batch, and which examples have it at all.

    A statistic of words or links, such as an accuracy, is their sum (the number of those that are right), and `valid`
    says how many there are in each example: the mean is then over all of them (`tally.tally`).
    """

    values: Float[Tensor, "example head *dims"]
    valid: Bool[Tensor, "example *dims"] | Int[Tensor, "example *dims"]

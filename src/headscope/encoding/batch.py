"""Inputs of a measure: a batch of examples on the device, and a block of rows of one layer's attention."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from headscope.encoding.pair_sums import SUMS, PairSums, pair_sums
from headscope.linguistics.sentence import Example
from headscope.results.vocabulary import OFFSETS, TOKEN_CLASSES

QUERY_GROUPS = ("all", "sep", "cls")
# Of padding and special tokens the class is smaller.
FIRST_OF_TEXT = TOKEN_CLASSES.index("punct")

Value = TypeVar("Value")


@dataclass(frozen=True)
class Batch:
    """Examples that go through the model together, padded on the right.

    * `inputs`: what the model is called with, each [example, token].
    * `index`: the number of each example in its corpus, from 0; `unit`: of what is resampled with it, its document or
      itself, which seeds the bootstrap.
    * `real`: which tokens are not padding.
    * `token_class`: the number of each token's class in `results.TOKEN_CLASSES`; -1 for padding.
    * `class_exists`: which classes the tokenizer has at all (GPT-2 has no cls).
    * `features`: rows (example, feature, token), sorted by example.
    * `links`: rows (example, relation, query, key), sorted by example.
    * `link_ends`: how many rows of `links` belong to the examples before the one with that number.
    * `examples`: the examples themselves, and `pieces`: rows (example, word, token), words numbered through all
      sentences of an example; only where the words are asked for (`Words(aligned=True)`).
    * `upos`: the parts of speech of the words of each token, as bits of a number in the order of `results.UPOS`.
    * `pair_words`: rows (example, word, form, segment, token) of the words of pairs of segments.
    * `count`: how often the piece of each token stands in the corpus; `frequency`: the number of its class in
      `results.FREQUENCIES`; -1 where it is not counted.
    * `predicted`, `predicted_class`: the same of how often the model predicts the piece.
    * `seen`: how many tokens each token sees, from the first on; -1 in a pass without counts, and for padding.
    """

    inputs: Mapping[str, Int[Tensor, "example token"]]
    index: Int[Tensor, " example"]
    real: Bool[Tensor, "example token"]
    token_class: Int[Tensor, "example token"]
    class_exists: Bool[Tensor, " token_class"]
    features: Int[Tensor, "feature_row 3"]
    links: Int[Tensor, "link_row 4"]
    link_ends: tuple[int, ...]
    unit: Int[Tensor, " example"]
    examples: tuple[Example, ...] = ()
    pieces: Int[Tensor, "piece_row 3"] | None = None
    pair_words: Int[Tensor, "pair_row 5"] | None = None
    upos: Int[Tensor, "example token"] = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.long))
    count: Int[Tensor, "example token"] = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.long))
    frequency: Int[Tensor, "example token"] = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.long))
    seen: Int[Tensor, "example token"] = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.long))
    predicted: Int[Tensor, "example token"] = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.long))
    predicted_class: Int[Tensor, "example token"] = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.long))

    @cached_property
    def lengths(self) -> Float[Tensor, " example"]:
        """The number of real tokens of each example."""
        return self.real.sum(-1).to(torch.float32)

    @cached_property
    def has_pairs(self) -> bool:
        """Whether any example is a pair of segments."""
        return self.pair_words is not None and len(self.pair_words) > 0

    @cached_property
    def pair_sums(self) -> PairSums:
        """Weights of attention between the words of two segments."""
        if self.pair_words is None or not self.has_pairs:
            none = self.real.new_zeros(len(self.real))
            return PairSums(self.real.new_zeros(len(self.real), 0, 0, SUMS, dtype=torch.float32), none, none)
        return pair_sums(self.pair_words, (self.real.shape[0], self.real.shape[1]))

    @cached_property
    def query_groups(self) -> Float[Tensor, "example group token"]:
        """Membership of the tokens in each of `QUERY_GROUPS`, as ones and zeros."""
        groups = (self.real, self.token_class == 1, self.token_class == 0)
        return torch.stack(groups, dim=1).to(torch.float32)

    @cached_property
    def sink(self) -> Float[Tensor, "example token"]:
        """1 for the special tokens of each example, or for its first token where it has none.

        Clark et al. 2019, section 3.2: a head whose function does not apply to a token looks at [SEP] ("no-op").
        """
        special = self.query_groups[:, 1:].amax(1)
        first = torch.zeros_like(special)
        first[:, 0] = 1
        return torch.where(special.any(-1, keepdim=True), special, first)

    @cached_property
    def _blocks(self) -> dict[tuple[int, ...], "BlockIndex"]:
        return {}

    def block(self, examples: slice, queries: slice, keys: slice | None = None) -> "BlockIndex":
        """A part of the batch; the same one in every layer. None for all keys."""
        keys = keys or slice(0, self.real.shape[1])
        ends = (examples.start, examples.stop, queries.start, queries.stop, keys.start, keys.stop)
        if ends not in self._blocks:
            self._blocks[ends] = BlockIndex(self, examples, queries, keys)
        return self._blocks[ends]

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

    @cached_property
    def first_alike(self) -> Int[Tensor, "example word"] | None:
        """The first word with the same tokens as each word, as words of a multiword token have; None if all differ."""
        members, size = self.sum_of_pieces, self.sum_of_pieces.sum(1)
        if size.shape[1] < 2:
            return None
        common, number = members.mT @ members, torch.arange(size.shape[1], device=size.device)
        same = (common == size[:, :, None]) & (common == size[:, None])
        first = torch.where(self.has_token, same.to(torch.uint8).max(-1).indices, number)
        return None if torch.equal(first, number.expand_as(first)) else first


@dataclass(frozen=True)
class BlockIndex:
    """Examples, queries and keys of a block, and what measures need of them, computed once for all layers."""

    batch: Batch
    examples: slice
    queries: slice
    keys: slice
    _values: dict[Callable[["BlockIndex"], Any], Any] = field(default_factory=dict, repr=False)

    def once(self, make: Callable[["BlockIndex"], Value]) -> Value:
        """The value of `make(block)`, computed once."""
        if make not in self._values:
            self._values[make] = make(self)
        return self._values[make]

    @cached_property
    def query_groups(self) -> Float[Tensor, "example 1 group query"]:
        """Membership of the queries in each of `QUERY_GROUPS`, as ones and zeros."""
        return self.batch.query_groups[self.examples, None, :, self.queries].contiguous()

    @cached_property
    def special_queries(self) -> tuple[Tensor, Tensor, Float[Tensor, "example 1 group row"]] | None:
        """The queries of groups other than the first: example and row of each, [example, row], and their groups.

        Examples that have fewer than others get rows of no group. None where no example has any.
        """
        members = self.query_groups[:, 0, 1:]
        most = int(members.any(1).sum(-1).max()) if members.numel() else 0
        if not most:
            return None
        rows = members.sum(1).topk(most).indices
        members = members.gather(-1, rows[:, None].expand(-1, members.shape[1], -1))
        return torch.arange(len(rows), device=rows.device)[:, None], rows, members[:, None]

    @cached_property
    def real_queries(self) -> Float[Tensor, "example 1 query"]:
        """1 for the real queries, 0 for padding."""
        return self.query_groups[:, :, 0].contiguous()

    @cached_property
    def text_queries(self) -> Float[Tensor, "example 1 1 query"]:
        """1 for the queries that are no special tokens."""
        token_class = self.batch.token_class[self.examples, None, None, self.queries]
        return (token_class >= FIRST_OF_TEXT).to(torch.float32)

    @cached_property
    def sink(self) -> Float[Tensor, "example 1 key 1"]:
        """1 for the keys of the sink."""
        return self.batch.sink[self.examples, None, self.keys, None]

    @cached_property
    def neighbours(self) -> tuple[Int[Tensor, "query offset"], Float[Tensor, "example 1 query offset"]]:
        """Where the block has the key at each offset from a query; 1 where query and key are real tokens, else 0."""
        real = self.batch.real
        queries = torch.arange(self.queries.start, self.queries.stop, device=real.device)[:, None]
        keys = queries + torch.tensor(OFFSETS, device=real.device)
        inside = keys.clamp(self.keys.start, self.keys.stop - 1)
        both = real[self.examples, queries] & real[self.examples, inside] & (keys == inside)
        return inside - self.keys.start, both[:, None].to(torch.float32)

    @cached_property
    def links(self) -> tuple[int, Tensor, Tensor, Tensor, Tensor]:
        """The number of links of the block's examples; the link, example, row and column of those in the block."""
        first, last = (self.batch.link_ends[end] for end in (self.examples.start, self.examples.stop))
        example, _, query, key = self.batch.links[first:last].unbind(-1)
        (inside,) = (_in(self.queries, query) & _in(self.keys, key)).nonzero(as_tuple=True)
        example, row, column = (
            tokens[inside] - part.start
            for tokens, part in ((example, self.examples), (query, self.queries), (key, self.keys))
        )
        return last - first, inside, example, row, column

    @cached_property
    def pair_weights(self) -> Float[Tensor, "example query_key sum"] | None:
        """The weights of `pair_sums`; None where the batch has no pair."""
        if not self.batch.has_pairs:
            return None
        return self.batch.pair_sums.weights[self.examples, self.queries, self.keys].flatten(1, 2)


def _in(part: slice, tokens: Tensor) -> Tensor:
    return (tokens >= part.start) & (tokens < part.stop)


@dataclass(frozen=True)
class Rows:
    """The attention of a block of queries to the keys, for some examples of a batch, in one layer.

    Padded keys have attention 0; padded queries are there and must not be counted. A block may have some of the heads.
    `row_entropy` computes the entropy of the rows from the scores; None where the model does not show them.
    `heads`: of the layer; `keys`: those that `attention` has; to all others it is 0. None for all.
    """

    attention: Float[Tensor, "example head query key"]
    batch: Batch
    examples: slice
    queries: slice
    row_entropy: Callable[[], Float[Tensor, "example head query"]] | None = None
    heads: slice | None = None
    keys: slice | None = None

    @property
    def slices(self) -> tuple[slice, slice, slice, slice]:
        """Where the block lies in maps [example, head, query, key]."""
        return self.examples, self.heads or slice(None), self.queries, self.keys or slice(None)

    @cached_property
    def block(self) -> BlockIndex:
        """The block's examples, queries and keys."""
        return self.batch.block(self.examples, self.queries, self.keys)

    def gather(self, keys: Int[Tensor, "query number"]) -> Float[Tensor, "example head query number"]:
        """The attention of each query to some keys; 0 to those that the block does not have."""
        keys, inside = self.within(keys)
        attention = self.attention.gather(-1, keys.expand(*self.attention.shape[:3], -1))
        return attention if inside is None else attention * inside

    def within(self, keys: Int[Tensor, "*dims"]) -> tuple[Int[Tensor, "*dims"], Bool[Tensor, "*dims"] | None]:
        """Indices of keys in the last axis of `attention` (0 for others), and which are in it; None if all are."""
        if self._has_all_keys:
            return keys, None
        start, stop = self.block.keys.start, self.block.keys.stop
        inside = (keys >= start) & (keys < stop)
        return torch.where(inside, keys - start, 0), inside

    @cached_property
    def received(self) -> Float[Tensor, "example head group key"]:
        """The attention that each key gets from this block's queries, summed over each of `QUERY_GROUPS`."""
        received, groups = self.block.real_queries[:, :, None] @ self.attention, len(QUERY_GROUPS)
        if self.block.special_queries is None:
            return self.for_all_keys(received, rows=groups - 1)
        examples, rows, members = self.block.special_queries
        # [example, 1, group, row] @ [example, head, row, key]
        special = members @ self.attention[examples, :, rows].transpose(1, 2)
        return self.for_all_keys(torch.cat([received, special], dim=2))

    def for_all_keys(
        self, values: Float[Tensor, "*dims row key"], rows: int = 0
    ) -> Float[Tensor, "*dims more_rows every_key"]:
        """Values of the keys that the block has, and 0 for all others, and in this many further rows."""
        if not rows and self._has_all_keys:
            return values
        keys = self.block.keys
        return pad(values, (keys.start, self.batch.real.shape[1] - keys.stop, 0, rows))

    @property
    def _has_all_keys(self) -> bool:
        return self.keys is None or self.attention.shape[-1] == self.batch.real.shape[1]

    @cached_property
    def entropy(self) -> Float[Tensor, "example head query"]:
        """-sum_j A log A of each row, in nats."""
        return torch.special.entr(self.attention).sum(-1) if self.row_entropy is None else self.row_entropy()

    @cached_property
    def from_text(self) -> Float[Tensor, "example head key"]:
        """The attention that each key gets from the block's queries that are not special."""
        return self.for_all_keys(self.block.text_queries @ self.attention).squeeze(2)

    @cached_property
    def at_offsets(self) -> Float[Tensor, "example head offset"]:
        """The attention at each of `OFFSETS`, summed over the queries that have a real token there."""
        keys, real = self.block.neighbours
        return (self.attention.gather(-1, keys.expand(*self.attention.shape[:3], -1)) * real).sum(2)

    @cached_property
    def linked(self) -> Float[Tensor, "link_row head"]:
        """The attention of each link of the block's examples; 0 where its query or its key is not in the block."""
        number, link, example, row, key = self.block.links
        attention = self.attention[example, :, row, key]
        if len(attention) == number:
            return attention
        return attention.new_zeros(number, attention.shape[1]).index_copy_(0, link, attention)

    @cached_property
    def to_sink(self) -> Float[Tensor, "example head query"]:
        """The attention of each query to the sink."""
        return (self.attention @ self.block.sink).squeeze(-1)

    @cached_property
    def pair_sums(self) -> Float[Tensor, "example head sum"]:
        """This block's part of the sums of `encoding.pair_sums`; zeros where the batch has no pair."""
        weights = self.block.pair_weights
        return self.zeros(SUMS) if weights is None else self.attention.flatten(2) @ weights

    def zeros(self, number: int) -> Float[Tensor, "example head number"]:
        """This many zeros for each head of each example."""
        return self.attention.new_zeros(*self.attention.shape[:2], number)

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
        between = self.between(sources, self.batch.sum_of_pieces)
        if self.batch.first_alike is None:
            return between
        # Sums over the same tokens may be rounded in different ways, and the first of equal words is to be the largest.
        first = self.batch.first_alike[self.examples]
        return between.take_along_dim(first[:, None, :, None], -2).take_along_dim(first[:, None, None], -1)

    def between(
        self, sources: Float[Tensor, "example word token"], targets: Float[Tensor, "example token word"]
    ) -> Float[Tensor, "example head word word"]:
        """This block's part of the attention of weighted sums of queries to sums of keys."""
        members = targets[self.examples, self.keys or slice(None)]
        # [example, head_query, key] @ [example, key, word] -> [example, head, query, word]
        to_words = (self.attention.flatten(1, 2) @ members).unflatten(1, self.attention.shape[1:3])
        return sources[self.examples, None, :, self.queries] @ to_words

    def sum_of_real(self, values: Float[Tensor, "example head query"]) -> Float[Tensor, "example head"]:
        """The sum of a value of each query over the real queries of the block."""
        return (values * self.block.real_queries).sum(-1)


@dataclass(frozen=True)
class Values:
    """A statistic of each example of a batch, and which examples have it at all.

    A statistic of words or links, such as an accuracy, is their sum (the number of those that are right), and `valid`
    says how many there are in each example: the mean is then over all of them (`tally.tally`).
    * `resampled`: False for sums over all examples of the batch, in the place of one, which have no interval.
    """

    values: Float[Tensor, "example head *dims"]
    valid: Bool[Tensor, "example *dims"] | Int[Tensor, "example *dims"]
    resampled: bool = True

"""Observer of the attention that each head gives to links and to their baselines.

Kovaleva et al. 2019, section 4.2: "the maximum absolute attention weight among those token pairs that correspond to the
annotated semantic link", tokens being pieces of words. The released code pairs the pieces of source and target one by
one (`as_coded`); here all pairs count.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.linguistics.sentence import Example, Link
from headscope.passes.observing import RowsObserver
from headscope.studies.heads.relations.link_attention import Baselines, LinkAttention, baselines
from headscope.studies.heads.relations.link_kinds import parts_of

# A link, the same elsewhere, with another source, with another target; and a link that has these three.
KINDS = 5
MOST_BATCHES = 32  # whose links are kept
Pairs = list[tuple[int, int]]


class LinkRow(NamedTuple):
    """A relation of an example: the pairs of tokens of its links and of each baseline, and the number of links."""

    example: int
    relation: str
    pairs: tuple[Pairs, ...]
    links: int
    compared: bool


class LinkObserver(RowsObserver):
    """Keep the largest attention of any pair of tokens of each relation of each example.

    * `seed`: of the baselines.
    * `as_coded`: pair the tokens of source and target one by one.
    * `counts`: of links whose ends have no tokens, or the same one.
    * `relink`: gives an example the links that count; by default it has them.
    * `links`: those of some batches, by the numbers of their inputs, for the models that read them next.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        as_coded: bool = False,
        counts: Counter[str] | None = None,
        relink: Callable[[Example], Example] | None = None,
        links: dict[bytes, tuple[Any, ...]] | None = None,
    ):
        self.seed, self.as_coded, self.relink = seed, as_coded, relink
        self.counts, self.links = Counter() if counts is None else counts, {} if links is None else links

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and look for the links of this one."""
        self.batch, inputs = batch, batch.index.numpy().tobytes()
        if inputs not in self.links:
            if len(self.links) == MOST_BATCHES:
                self.links.clear()
            self.links[inputs] = self._links_of(batch)
        self.rows, self.cells, self.ends, self.lookers = self.links[inputs]
        self.to_sink: dict[tuple[int, int], Float[Tensor, "example head token"]] = {}
        self.at_sink = batch.sink[:, None, :, None]
        # By layer and the first of some heads.
        self.largest: dict[tuple[int, int], Float[Tensor, "row head direction"]] = {}

    def _links_of(self, batch: Batch) -> tuple[Any, ...]:
        """The rows of a batch, the cells of their pairs, where those of each example end, and what looks."""
        tokens = tokens_of(batch)
        rows = [row for example in range(len(batch.examples)) for row in self._rows(example, tokens[example])]
        cells = [
            (row.example, KINDS * number + kind, *pair)
            for number, row in enumerate(rows)
            for kind, pairs in enumerate(row.pairs)
            for pair in pairs
        ]
        table = torch.tensor(cells, dtype=torch.long, device=batch.real.device).reshape(-1, 4)  # [cell, 4]
        ends = np.searchsorted([cell[0] for cell in cells], range(len(batch.real) + 1)).tolist()
        return rows, table, ends, _lookers(rows, tokens, batch.real)

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`: the blocks of a layer add to the maxima of those before."""
        examples, queries, heads = rows.examples, rows.queries, (layer, rows.heads.start if rows.heads else 0)
        if heads not in self.largest:
            self.largest[heads] = rows.attention.new_zeros(KINDS * len(self.rows), rows.attention.shape[1], 2)
        example, row, *ends = self.cells[self.ends[examples.start] : self.ends[examples.stop]].unbind(-1)
        for direction, (query, key) in enumerate((ends, reversed(ends))):
            key, seen = rows.within(key)
            inside = (query >= queries.start) & (query < queries.stop)
            inside = inside if seen is None else inside & seen
            # [pair, head]
            weights = rows.attention[example[inside] - examples.start, :, query[inside] - queries.start, key[inside]]
            maxima = self.largest[heads][..., direction]
            maxima.scatter_reduce_(0, row[inside, None].expand_as(weights), weights, "amax")
        if heads not in self.to_sink:
            self.to_sink[heads] = rows.attention.new_zeros(len(self.batch.real), rows.attention.shape[1], self.width)
        keys = self.at_sink[examples, :, rows.keys or slice(None)]
        self.to_sink[heads][examples, :, queries] += (rows.attention @ keys)[..., 0]

    def finish(self) -> LinkAttention:
        """The rows of the batch."""
        parts = [self.largest[heads] for heads in sorted(self.largest)]
        sinks = self._sinks()
        # [row, kind, head, direction]
        weights = torch.cat(parts, dim=1).unflatten(0, (len(self.rows), KINDS)).cpu().numpy()
        examples = np.array([row.example for row in self.rows], dtype=np.int64)
        compared = np.array([row.compared for row in self.rows], dtype=bool)[:, None, None, None]
        elsewhere, source, target, matched = np.where(compared, weights[:, 1:], np.nan).swapaxes(0, 1)
        return LinkAttention(
            input=self.batch.index.numpy()[examples],
            unit=self.batch.unit.numpy()[examples],
            length=self.batch.real.sum(-1).cpu().numpy()[examples],
            relation=np.array([row.relation for row in self.rows], dtype=str),
            links=np.array([row.links for row in self.rows], dtype=np.int64),
            linked=weights[:, 0],
            elsewhere=elsewhere,
            # The end that looks is the source in direction 0, the target in direction 1.
            others=np.stack([source[..., 0], target[..., 1]], -1),
            other_ends=np.stack([target[..., 0], source[..., 1]], -1),
            sink=sinks[..., 0],
            sink_others=sinks[..., 1],
            matched=matched,
        )

    @property
    def width(self) -> int:
        """The number of tokens of the batch."""
        return self.batch.real.shape[1]

    def _sinks(self) -> Float[np.ndarray, "row head direction 2"]:
        """Attention to special tokens of the ends that look, and of all other words; two bytes a number."""
        to_sink = torch.cat([self.to_sink[heads] for heads in sorted(self.to_sink)], dim=1)
        example = torch.tensor([row.example for row in self.rows], dtype=torch.long, device=to_sink.device)
        # [row, head, token] and [row, direction, kind, token]
        means = torch.einsum("rht,rdkt->rhdk", to_sink[example], self.lookers)
        return means.to(torch.float16).cpu().numpy()

    def _rows(self, example: int, tokens: dict[int, list[int]]) -> Iterator[LinkRow]:
        """The relations of an example that have a pair of tokens."""
        by_relation: dict[str, list[tuple[Pairs, ...]]] = defaultdict(list)
        read = self.batch.examples[example]
        for link, others, before in self._links(self.relink(read) if self.relink else read, tokens):
            pairs = tuple(pairs_of(part, tokens, before, self.as_coded) for part in (link, *others))
            if pairs[0]:
                by_relation[link.relation].append(pairs)
            else:
                self.counts["links without a pair of tokens"] += 1
        for relation, links in by_relation.items():
            matched = [(*pairs[1:], pairs[0]) for pairs in links if all(pairs)]
            kinds = [[pairs[0] for pairs in links], *(zip(*matched, strict=True) if matched else [[]] * (KINDS - 1))]
            pairs = tuple([pair for of_link in of_links for pair in of_link] for of_links in kinds)
            yield LinkRow(example, relation, pairs, len(links), bool(matched))

    def _links(self, example: Example, tokens: dict[int, list[int]]) -> Iterator[tuple[Link, Baselines, int]]:
        """Each link, its baselines, and how many words of the example stand before its sentence."""
        before = 0
        for number, sentence in enumerate(example.sentences):
            random = Random(f"{self.seed} {number} {example.id}")
            others = baselines(sentence, random, parts_of(example, sentence), partial(_pieces, tokens, before))
            yield from ((link, other, before) for link, other in zip(sentence.links, others, strict=True))
            before += len(sentence.words)


def _lookers(
    rows: list[LinkRow], tokens: list[dict[int, list[int]]], real: Tensor
) -> Float[Tensor, "row direction kind token"]:
    """Weights of means over the tokens of the links' looking ends, and over all other words; NaN without any."""
    weights = torch.zeros(len(rows), 2, 2, real.shape[1], device=real.device)
    for number, row in enumerate(rows):
        words = {token for pieces in tokens[row.example].values() for token in pieces}
        for direction in range(2):
            ends = {pair[direction] for pair in row.pairs[0]}
            for kind, group in enumerate((ends, words - ends)):
                if group:
                    weights[number, direction, kind, sorted(group)] = 1 / len(group)
                else:
                    weights[number, direction, kind] = torch.nan
    return weights


def _pieces(tokens: dict[int, list[int]], before: int, word: int) -> int:
    return len(tokens.get(before + word, ()))


def tokens_of(batch: Batch) -> list[dict[int, list[int]]]:
    """The tokens of each word of each example."""
    tokens: list[dict[int, list[int]]] = [defaultdict(list) for _ in batch.examples]
    for example, word, token in batch.pieces.tolist() if batch.pieces is not None else ():
        tokens[example][word].append(token)
    return tokens


def pairs_of(link: Link | None, tokens: dict[int, list[int]], before: int = 0, as_coded: bool = False) -> Pairs:
    """The pairs of tokens of a link, of which none is paired with itself; words are numbered from `before` on.

    >>> pairs_of(Link("Experiencer", (0, 1), (3,)), {0: [1], 1: [2, 3], 3: [5]})
    [(1, 5), (2, 5), (3, 5)]
    """
    if link is None:
        return []
    ends = [
        [token for word in words for token in tokens.get(before + word, ())] for words in (link.source, link.target)
    ]
    paired = zip(*ends, strict=False) if as_coded else product(*ends)
    return [(source, target) for source, target in paired if source != target]

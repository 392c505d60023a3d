"""Observer of attention between words: the trees of each head, of the mean of each layer, and of that of all heads."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import SPECIAL, WordAttention
from headscope.encoding.parsed_sentences import ROOT, Parsed, sentences_of
from headscope.passes.observing import RowsObserver
from headscope.results.vocabulary import DIRECTIONS
from headscope.studies.heads.trees.parses import (
    attachments,
    distances,
    gold_phrases,
    links,
    scored,
    scores,
    simple_scores,
    tie_order,
    without_special,
    words_of,
)
from headscope.studies.heads.trees.scores import DISTANCES, FIXED, METRICS, ROOTS, SIMPLE, SPECIAL_TOKENS, TreeRows

Maps = Float[np.ndarray, "sentence head node node"]
Means = Float[np.ndarray, "unit head"]


class TreeObserver(RowsObserver):
    """Parse the sentences of a batch by its attention, and keep only counts; see `TreeRows`.

    * `means`: see `means_of`, all heads first; `bias`: to the right, of phrases; `seed`: of random trees.
    * `counts`: of sentences and words that cannot be parsed, see `parsed_sentences.parsed`.
    """

    def __init__(self, means: Means, *, bias: float = 0.0, seed: int = 0, counts: Counter[str] | None = None):
        self.means, self.bias, self.seed = means, bias, seed
        self.counts = Counter() if counts is None else counts

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch, self.attention = batch, WordAttention(batch)

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`."""
        self.attention.add(layer, rows)

    def finish(self) -> TreeRows:
        """The counts of the sentences of the batch; sentences of equal length are parsed together."""
        weights = self.attention.joined().numpy()
        has_role = self.attention.members[:, :, :SPECIAL].any(1).cpu().numpy()
        alike: dict[tuple[int, int], list[tuple[Parsed, np.ndarray, int]]] = defaultdict(list)
        for row, sentence in sentences_of(self.batch, self.counts):
            if len(sentence) > 1:
                roles = np.flatnonzero(has_role[row])
                nodes = np.concatenate([roles, sentence.words + SPECIAL])
                alike[len(sentence), len(roles)].append((sentence, weights[row][:, nodes[:, None], nodes], row))
        parts = [self._rows(special, group) for (_, special), group in alike.items()]
        return TreeRows.concatenate(parts) if parts else self._rows(0, [])

    def _rows(self, special: int, group: list[tuple[Parsed, np.ndarray, int]]) -> TreeRows:
        """The rows of sentences of equal length, each with its maps and the row of its example."""
        sentences, units = [sentence for sentence, *_ in group], len(self.means)
        size = len(sentences[0]) + special if group else 1
        maps = np.array([attention for _, attention, _ in group]).reshape(-1, self.means.shape[1], size, size)
        shape = (len(group), units, len(DIRECTIONS), len(SPECIAL_TOKENS))
        right, root = np.zeros((2, *shape, len(ROOTS)), dtype=np.uint16), np.zeros(shape, dtype=bool)
        if group:
            means = np.einsum("uh,shij->suij", self.means[maps.shape[1] :], maps, optimize=True)
            self._parse(np.concatenate([maps, means], axis=1), special, sentences, right, root)
        rooted = np.array([bool((sentence.heads == ROOT).any()) for sentence in sentences], dtype=bool)
        bracketed, f1, simple_f1 = self._phrases(maps, special, group)
        return TreeRows(
            np.array([sentence.input for sentence in sentences], dtype=np.int64),
            np.array([sentence.number for sentence in sentences], dtype=np.int64),
            np.array([sentence.unit for sentence in sentences], dtype=np.int64),
            np.array([len(scored(sentence)) for sentence in sentences], dtype=np.int64),
            rooted,
            right[0],
            right[1],
            root & rooted[:, None, None, None],
            np.array([_fixed(sentence) for sentence in sentences], dtype=np.uint16).reshape(
                -1, len(METRICS), len(FIXED)
            ),
            bracketed,
            f1,
            simple_f1,
        )

    def _parse(
        self, maps: np.ndarray, special: int, sentences: Sequence[Parsed], right: np.ndarray, root: np.ndarray
    ) -> None:
        """Fill in [score, sentence, unit, direction, special tokens, root] and [sentence, unit, direction, ...]."""
        noise = np.array([tie_order(self.seed, sentence, maps.shape[-1]) for sentence in sentences])[:, None]
        for kept, nodes in enumerate((special, 0)):
            between, random = (
                (maps, noise) if kept == 0 else (without_special(maps, special), noise[..., special:, special:])
            )
            directed = np.stack([between, between.swapaxes(-1, -2)], axis=2)
            counts, attached = attachments(
                directed.reshape(len(maps), -1, *between.shape[2:]), random, nodes, sentences
            )
            # [root, score, sentence, unit and direction] -> [score, sentence, unit, direction, root]
            right[:, :, :, :, kept, :2] = np.moveaxis(counts, 0, -1).reshape(2, *directed.shape[:3], 2)
            root[:, :, :, kept] = attached.reshape(directed.shape[:3])
            right[1, :, :, :, kept, 2] = links(between, random, nodes, sentences)[:, :, None]

    def _phrases(self, maps: Maps, special: int, group: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Whether each sentence has phrases, and the F1 of its trees; distances of heads are averaged, as in the paper.

        The random tree of a sentence depends on the seed and its place in the corpus alone.
        """
        f1 = np.zeros((len(group), len(self.means), len(DISTANCES), len(SPECIAL_TOKENS)), dtype=np.float32)
        bracketed, simple_f1 = np.zeros(len(group), dtype=bool), np.zeros((len(group), len(SIMPLE)), dtype=np.float32)
        for number, (sentence, _, row) in enumerate(group):
            if (gold := self._gold(sentence, row)) is None:
                continue
            bracketed[number] = True
            simple_f1[number] = simple_scores(gold, np.random.default_rng([self.seed, sentence.input, sentence.number]))
            rows = maps[number][:, words_of(sentence) + special]
            for kept, first in enumerate((0, special)):
                for index, distance in enumerate(distances(rows[..., first:]).values()):
                    f1[number, :, index, kept] = scores(self.means @ distance, gold, self.bias)
        return bracketed, f1, simple_f1

    def _gold(self, sentence: Parsed, row: int) -> np.ndarray | None:
        annotated = self.batch.examples[row].sentences
        phrases = annotated[sentence.number].phrases
        before = sum(len(earlier.words) for earlier in annotated[: sentence.number])
        return None if phrases is None else gold_phrases(sentence, phrases, before)


def means_of(heads: tuple[int, ...]) -> Means:
    """Weights that make units of heads: each head, the mean of each layer, the mean of all.

    >>> means_of((2, 2))[4:].tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]]
    """
    total, layer = sum(heads), np.repeat(np.arange(len(heads)), heads)
    layers = (layer == np.arange(len(heads))[:, None]) / np.array(heads)[:, None]
    return np.concatenate([np.eye(total), layers, np.full((1, total), 1 / total)]).astype(np.float32)


def _fixed(sentence: Parsed) -> np.ndarray:
    """How many scored words get their head, and are linked with it, where each of `FIXED` is the head of all words."""
    dependent, words = scored(sentence), np.arange(len(sentence))
    head, lengths = sentence.heads[dependent] - 1, np.full_like(words, len(words))
    predicted = np.stack([fixed.places(words, lengths) for fixed in FIXED])  # [fixed word, word]
    right = predicted[:, dependent] == head
    return np.array([right.sum(1), (right | (predicted[:, head] == dependent)).sum(1)])

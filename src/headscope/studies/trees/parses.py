"""Trees of attention: dependency trees and the syntactic heads that they find, constituency trees and their F1.

Constituency trees are by syntactic distance (Kim et al. 2020).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import entr

from headscope.encoding.parsed_sentences import ROOT, Parsed
from headscope.linguistics.arborescences import Contraction
from headscope.linguistics.constituents import branching, f1, gold_table, right_biased, spans
from headscope.linguistics.spanning_tree import undirected_trees

# Numbers of the score matrices that are parsed at a time: 4 MB, which the cache of a processor holds.
CELLS = 1 << 19
# Equal edges, but for the rounding of sums, are put in random order: a share of attention, and for no attention at all.
ROUNDING, LEAST = 1e-6, 1e-12
Maps = Float[np.ndarray, "sentence unit node node"]
Noise = Float[np.ndarray, "sentence 1 node node"]
WordCounts = Int[np.ndarray, "sentence unit"]
Gold = Bool[np.ndarray, "start end"]
Distances = Float[np.ndarray, "head gap"]


def scored(sentence: Parsed) -> Int[np.ndarray, " word"]:
    """The words that are scored: those with an annotated head, without root and punctuation."""
    return np.flatnonzero((sentence.heads > ROOT) & (sentence.relations != "punct"))


def without_special(maps: Maps, special: int) -> Maps:
    """The maps without their first `special` nodes, divided by what is left of each row."""
    words = maps[..., special:, special:]
    return words / np.maximum(words.sum(-1, keepdims=True), np.finfo(np.float32).tiny)


def attachments(
    maps: Maps, noise: Noise, special: int, sentences: Sequence[Parsed]
) -> tuple[Int[np.ndarray, "root score sentence unit"], Bool[np.ndarray, "sentence unit"]]:
    """Parse sentences of equal length by their maps, the dependent in the row.

    * `noise`: random numbers from 0 to 1 that put equal edges in order: a head that looks at all words alike would else
      have a tree by their positions.
    * `special`: number of special tokens before the words; a word that hangs on one of them has no right head.

    Returns: how many words of each sentence get their head, and are linked with it (the axis `score`), for a tree from
    the gold root and for the best tree; and whether the root of the latter is the gold root.
    """
    count, units, nodes, _ = maps.shape
    gold = np.array([_gold_root(sentence) for sentence in sentences])
    graphs = _in_order(maps, noise)  # [sentence and unit, dependent, head]
    wanted = np.repeat(gold, units)
    heads, best = np.empty((2, len(graphs), nodes), dtype=np.int32), np.empty(len(graphs), dtype=np.int32)
    for first in range(0, len(graphs), max(1, CELLS // nodes**2)):
        part = slice(first, first + max(1, CELLS // nodes**2))
        contraction = Contraction(graphs[part])
        best[part] = contraction.best_root()
        roots = np.where(wanted[part] < 0, best[part], wanted[part] + special)
        heads[:, part] = contraction.heads(np.stack([roots, best[part]]))
    placed = heads[:, :, special:].reshape(2, count, units, nodes - special) - special  # [root, sentence, unit, word]
    right = np.stack([_right(parse, sentences) for parse in placed])
    return right, best.reshape(count, units) - special == gold[:, None]


def links(maps: Maps, noise: Noise, special: int, sentences: Sequence[Parsed]) -> WordCounts:
    """How many words are linked with their head in the best undirected tree; attention of both directions is added."""
    count, units, nodes, _ = maps.shape
    both, noise = maps + maps.swapaxes(-1, -2), noise + noise.swapaxes(-1, -2)
    graphs = _in_order(both, noise)  # [sentence and unit, node, node]
    neighbours = undirected_trees(graphs)[:, special:].reshape(count, units, nodes - special) - special
    return _right(neighbours, sentences)[1]


def _in_order(maps: Maps, noise: Noise) -> Float[np.ndarray, "graph node node"]:
    graphs = maps * (1 + ROUNDING * noise) + LEAST * noise  # in float64
    return graphs.reshape(-1, *maps.shape[2:])


def _gold_root(sentence: Parsed) -> int:
    roots = np.flatnonzero(sentence.heads == ROOT)
    return int(roots[0]) if len(roots) else -1


def _right(
    heads: Int[np.ndarray, "sentence unit word"], sentences: Sequence[Parsed]
) -> Int[np.ndarray, "score sentence unit"]:
    """Words with the right head, and words linked with it."""
    counts = []
    for predicted, sentence in zip(heads, sentences, strict=True):
        dependent = scored(sentence)
        head = sentence.heads[dependent] - 1
        right = predicted[:, dependent] == head
        counts.append([right.sum(1), (right | (predicted[:, head] == dependent)).sum(1)])
    return np.array(counts).swapaxes(0, 1)  # [score, sentence, unit]


def words_of(sentence: Parsed) -> np.ndarray:
    """The words of a sentence that phrases are made of: all but punctuation."""
    return np.flatnonzero(sentence.relations != "punct")


def gold_phrases(sentence: Parsed, phrases: tuple[tuple[int, int], ...], before: int) -> Gold | None:
    """The phrases of a sentence without its punctuation; None if only single words and the whole are left.

    * `before`: number of words of the example before the sentence.
    """
    position = {int(word) - before: index for index, word in enumerate(sentence.words[words_of(sentence)])}
    inside = [[position[word] for word in range(*phrase) if word in position] for phrase in phrases]
    table = gold_table(tuple((words[0], words[-1] + 1) for words in inside if words), len(position))
    return table if table.any() else None


def distances(rows: Float[np.ndarray, "head word node"]) -> dict[str, Distances]:
    """Distances of the attention of each word and of the next, by name; rows are divided by their sum."""
    rows = rows / np.maximum(rows.sum(-1, keepdims=True), np.finfo(np.float32).tiny)
    one, other = rows[:, :-1], rows[:, 1:]
    entropy = entr(rows).sum(-1)
    divergence = entr((one + other) / 2).sum(-1) - (entropy[:, :-1] + entropy[:, 1:]) / 2
    hellinger = np.square(np.sqrt(one) - np.sqrt(other)).sum(-1) / 2
    return {"jensen_shannon": np.sqrt(np.maximum(divergence, 0)), "hellinger": np.sqrt(hellinger)}


def scores(by_unit: Distances, gold: Gold, bias: float) -> Float[np.ndarray, " unit"]:
    """F1 of the trees of each unit's distances."""
    return f1(spans(right_biased(by_unit, bias)), gold)


def simple_scores(gold: Gold, generator: np.random.Generator) -> Float[np.ndarray, " tree"]:
    """F1 of the trees of `scores.SIMPLE`, which need no model."""
    words = len(gold)
    trees = np.stack([*branching(words).values(), generator.random(words - 1)])
    return f1(spans(trees), gold)

"""Trees of attention: dependency trees and the syntactic heads that they find, constituency trees and their F1.

Constituency trees are by syntactic distance (Kim et al. 2020).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import entr

from headscope.encoding.parsed_sentences import ROOT, Parsed
from headscope.linguistics.spanning_tree import Contraction, undirected_trees

# Numbers of the score matrices that are parsed at a time: 4 MB, which the cache of a processor holds.
CELLS = 1 << 19
# Equal edges, but for the rounding of sums, are put in random order: a share of attention, and for no attention at all.
ROUNDING, LEAST = 1e-6, 1e-12
Maps = Float[np.ndarray, "sentence unit node node"]
Noise = Float[np.ndarray, "sentence 1 node node"]
WordCounts = Int[np.ndarray, "sentence unit"]
Gold = Bool[np.ndarray, "start end"]
Distances = Float[np.ndarray, "head gap"]
Spans = Int[np.ndarray, "tree gap 2"]


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

    * `noise`: random numbers from 0 to 1 that put equal edges in order: else a head that looks at all words equally
      would have a tree by their positions.
    * `special`: number of special tokens before the words; a word that hangs on one of them has no right head.

    Returns: how many words of each sentence get their head, and are linked with it (the axis `score`), for a tree from
    the gold root and for the best tree; and whether the root of the latter is the gold root.
    """
    count, units, nodes, _ = maps.shape
    gold = np.array([_gold_root(sentence) for sentence in sentences])
    graphs = in_order(maps, noise).reshape(-1, *maps.shape[2:])  # [sentence and unit, dependent, head]
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
    graphs = in_order(both, noise).reshape(-1, *maps.shape[2:])  # [sentence and unit, node, node]
    neighbours = undirected_trees(graphs)[:, special:].reshape(count, units, nodes - special) - special
    return _right(neighbours, sentences)[1]


def tie_order(seed: int, sentence: Parsed, size: int) -> Float[np.ndarray, "node node"]:
    """Random numbers that decide between equal trees of a sentence; they depend on the seed and its place alone."""
    return np.random.default_rng([seed, sentence.input, sentence.number, 1]).random((size, size))


def in_order(maps: Float[np.ndarray, "*graphs node node"], noise: np.ndarray) -> Float[np.ndarray, "*graphs node node"]:
    """The maps in float64, with equal edges in random order."""
    return maps * (1 + ROUNDING * noise) + LEAST * noise


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
    first, second = rows[:, :-1], rows[:, 1:]
    entropy = entr(rows).sum(-1)
    divergence = entr((first + second) / 2).sum(-1) - (entropy[:, :-1] + entropy[:, 1:]) / 2
    hellinger = np.square(np.sqrt(first) - np.sqrt(second)).sum(-1) / 2
    return {"jensen_shannon": np.sqrt(np.maximum(divergence, 0)), "hellinger": np.sqrt(hellinger)}


def scores(by_unit: Distances, gold: Gold, bias: float) -> Float[np.ndarray, " unit"]:
    """F1 of the trees of each unit's distances."""
    return f1(spans(right_biased(by_unit, bias)), gold)


def simple_scores(gold: Gold, generator: np.random.Generator) -> Float[np.ndarray, " tree"]:
    """F1 of the trees of `scores.SIMPLE`, which need no model."""
    words = len(gold)
    trees = np.stack([*branching(words).values(), generator.random(words - 1)])
    return f1(spans(trees), gold)


def spans(distances: Float[np.ndarray, "tree gap"]) -> Spans:
    """The phrases of each tree, as words [start, end): a sentence is split at its largest gap, then each part.

    * `distances`: of each word and the next; of equal ones the first splits.

    >>> spans(np.array([[1.0, 3.0, 2.0]])).tolist()  # (a b) (c d), and (c d) is split last
    [[[0, 2], [0, 4], [2, 4]]]
    """
    gaps = distances.shape[1]
    gap, other = np.ogrid[:gaps, :gaps]
    here, there = distances[:, :, None], distances[:, None, :]
    # [tree, gap, other gap]: the nearest gaps on both sides that split before this one
    before = np.where((other < gap) & (there >= here), other, -1).max(-1, initial=-1)
    after = np.where((other > gap) & (there > here), other, gaps).min(-1, initial=gaps)
    return np.stack([before + 1, after + 1], axis=-1)


def gold_table(phrases: tuple[tuple[int, int], ...], words: int) -> Bool[np.ndarray, "start end"]:
    """Mask of the phrases of a sentence, without single words and the sentence itself."""
    table = np.zeros((words, words + 1), dtype=bool)
    for start, end in phrases:
        table[start, end] = 1 < end - start < words
    return table


def f1(predicted: Spans, gold: Bool[np.ndarray, "start end"]) -> Float[np.ndarray, " tree"]:
    """Unlabelled F1 of each tree, without single words and the sentence itself.

    >>> f1(spans(np.array([[1.0, 3.0, 2.0]])), gold_table(((0, 4), (0, 2)), 4)).round(3).tolist()
    [0.667]
    """
    right = gold[predicted[..., 0], predicted[..., 1]].sum(-1)
    return 2 * right / (predicted.shape[1] - 1 + gold.sum())


def branching(words: int) -> dict[str, Float[np.ndarray, " gap"]]:
    """Distances of the trees that need no model, by name.

    >>> {name: spans(each[None])[0].tolist() for name, each in branching(3).items()}["left_branching"]
    [[0, 2], [0, 3]]
    """
    balanced = np.zeros(words - 1)
    _halve(balanced, 0, words, float(words))
    rising = np.arange(words - 1, dtype=float)
    return {"right_branching": -rising, "left_branching": rising, "balanced": balanced}


def _halve(distances: Float[np.ndarray, " gap"], start: int, end: int, distance: float) -> None:
    if end - start > 1:
        middle = (start + end) // 2
        distances[middle - 1] = distance
        _halve(distances, start, middle, distance - 1)
        _halve(distances, middle, end, distance - 1)


def right_biased(distances: Float[np.ndarray, "tree gap"], bias: float) -> Float[np.ndarray, "tree gap"]:
    """Add to the distances `bias` times their mean, falling to 0 at the last gap (Kim et al. 2020, section 4.4)."""
    gaps = distances.shape[1]
    falling = 1 - np.arange(gaps) / max(1, gaps - 1)
    return distances + bias * distances.mean(1, keepdims=True) * falling if bias and gaps > 1 else distances

"""Constituency trees of attention by syntactic distance (Kim et al. 2020), and their F1."""

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import entr

from headscope.linguistics.constituents import branching, f1, gold_table, right_biased, spans
from headscope.linguistics.parsed_sentences import Parsed

Gold = Bool[np.ndarray, "start end"]
Distances = Float[np.ndarray, "head gap"]


def words_of(sentence: Parsed) -> np.ndarray:
    """The words of a sentence that phrases are made of: all but punctuation."""
    return np.flatnonzero(sentence.relations != "punct")


def gold_phrases(sentence: Parsed, phrases: tuple[tuple[int, int], ...], before: int) -> Gold | None:
    """The phrases of a sentence without its punctuation; None if only single words and the whole are left.

    * `before`: number of words of the example before the sentence.
    """
    position = {int(word) - before: place for place, word in enumerate(sentence.words[words_of(sentence)])}
    inside = [[position[word] for word in range(*phrase) if word in position] for phrase in phrases]
    table = gold_table(tuple((each[0], each[-1] + 1) for each in inside if each), len(position))
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

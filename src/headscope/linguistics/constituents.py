"""Binary constituency trees from distances between neighbouring words (Shen et al. 2018), and their F1."""

import numpy as np
from jaxtyping import Bool, Float, Int

Spans = Int[np.ndarray, "tree gap 2"]


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

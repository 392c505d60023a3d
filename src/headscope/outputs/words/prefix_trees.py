"""Texts of a causal model as prefix trees: what texts have in common at their start is computed once.

Several texts are one input. Each token of it is a prefix of some text, at the position that it has there, and sees the
shorter prefixes of its own text alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Int

from headscope.outputs.words.inputs import PredictedPieces, ScoredPieces, predicted_pieces

# Most tokens of an input of several texts; shorter ones are padded to a multiple of the other number.
MOST_TOKENS, STEP = 128, 32


@dataclass
class PrefixTree:
    """A tree that grows by one text after the other; the parent of a first token is the token itself.

    * `path`: the tokens of the last text; `texts`: the texts, and `paths` theirs.
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    paths: list[list[int]] = field(default_factory=list)

    def shared(self, ids: Sequence[int]) -> list[int]:
        """The tokens that a text shares with the last one."""
        path = self.paths[-1] if self.paths else []
        same = [self.ids[token] == piece for token, piece in zip(path, ids, strict=False)]
        return path[: same.index(False) if False in same else len(same)]

    def add(self, text: int, ids: Sequence[int]) -> None:
        """Add a text."""
        path = self.shared(ids)
        for piece in ids[len(path) :]:
            token = len(self.ids)
            self.ids.append(piece)
            self.positions.append(len(path))
            self.parents.append(path[-1] if path else token)
            path = [*path, token]
        self.texts.append(text)
        self.paths.append(path)

    def seen(self, width: int) -> Bool[np.ndarray, "token token"]:
        """Which tokens each token sees; padding sees itself."""
        seen = np.eye(width, dtype=bool)
        for token, parent in enumerate(self.parents):
            seen[token] |= seen[parent]
        return seen


def tree_predictions(texts: Sequence[ScoredPieces]) -> Iterator[PredictedPieces]:
    """Texts up to the piece before their last scored one, in prefix trees, in groups of one width."""
    groups: dict[int, list[PrefixTree]] = {}
    for tree in _trees(texts):
        groups.setdefault(-(-len(tree.ids) // STEP) * STEP, []).append(tree)
    for width, trees in groups.items():
        owners = [
            (row, text, path)
            for row, tree in enumerate(trees)
            for text, path in zip(tree.texts, tree.paths, strict=True)
        ]
        reads = [(row, path[token - 1]) for row, text, path in owners for token in texts[text].places]
        numbers = np.array([text for _, text, _ in owners])
        chosen = [texts[number] for number in numbers]
        counts = [len(text.places) for text in chosen]
        pieces = predicted_pieces(
            _padded([tree.ids for tree in trees], width), np.array(reads), chosen, np.repeat(numbers, counts)
        )
        positions = _padded([tree.positions for tree in trees], width)
        yield replace(pieces, positions=positions, seen=np.stack([tree.seen(width) for tree in trees]))


def _trees(texts: Sequence[ScoredPieces]) -> Iterator[PrefixTree]:
    """The trees of the texts, each of texts that follow each other in the order of their pieces."""
    read = sorted(
        (text.ids[: text.places[-1]].tolist(), number) for number, text in enumerate(texts) if len(text.places)
    )
    tree = PrefixTree()
    for ids, number in read:
        if tree.ids and len(tree.ids) + len(ids) - len(tree.shared(ids)) > MOST_TOKENS:
            yield tree
            tree = PrefixTree()
        tree.add(number, ids)
    if tree.ids:
        yield tree


def _padded(rows: Sequence[Sequence[int]], width: int) -> Int[np.ndarray, "row token"]:
    return np.array([[*row, *[0] * (width - len(row))] for row in rows])

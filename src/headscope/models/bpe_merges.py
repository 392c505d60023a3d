"""The merges of byte pair encoding (Sennrich et al. 2016), and those that a smaller vocabulary can still make."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Pair = tuple[str, str]


@dataclass(frozen=True)
class Merges:
    """Merges of two pieces to one, the first that a word has goes first.

    * `ranks`: the rank of each pair.
    * `prefix`: marks pieces within a word, and is not doubled by a merge; `suffix`: marks the last piece of a word.

    >>> merges = Merges({("l", "o"): 0, ("lo", "w"): 1}, "", "")
    >>> sorted(merges.made_of("low")), merges.among({"l", "o", "lo"})
    (['l', 'lo', 'low', 'o', 'w'], [('l', 'o')])
    """

    ranks: dict[Pair, int]
    prefix: str
    suffix: str

    def joined(self, pair: Pair) -> str:
        """The piece that a merge makes."""
        return pair[0] + pair[1][len(self.prefix) :]

    def among(self, pieces: Container[str]) -> list[Pair]:
        """The merges, in order, whose result and both parts are among some pieces."""
        ordered = sorted(self.ranks, key=self.ranks.__getitem__)
        return [pair for pair in ordered if all(piece in pieces for piece in (*pair, self.joined(pair)))]

    def made_of(self, piece: str) -> set[str]:
        """All pieces that stand on the way from the characters of a piece to the piece, which is among them.

        Where a text has the piece, no merge has crossed its ends: so it was made as from its characters alone.
        """
        parts = self._characters(piece)
        seen = {piece, *parts}
        while pairs := [pair for pair in pairwise(parts) if pair in self.ranks]:
            parts = self._merged(parts, min(pairs, key=self.ranks.__getitem__))
            seen.update(parts)
        return seen

    def _merged(self, parts: Sequence[str], pair: Pair) -> list[str]:
        """The parts after the leftmost pair of this kind is one."""
        first = next(index for index in range(len(parts) - 1) if (parts[index], parts[index + 1]) == pair)
        return [*parts[:first], self.joined(pair), *parts[first + 2 :]]

    def _characters(self, piece: str) -> list[str]:
        inner = piece.removeprefix(self.prefix).removesuffix(self.suffix)
        characters = [f"{self.prefix}{character}" for character in inner] or [piece]
        if not piece.startswith(self.prefix):
            characters[0] = characters[0].removeprefix(self.prefix)
        if self.suffix and piece.endswith(self.suffix):
            characters[-1] = f"{characters[-1].removesuffix(self.suffix)}{self.suffix}"
        return characters


def merges_of(model: dict[str, Any]) -> Merges:
    """The merges of the model of a `tokenizer.json`, which writes a pair as a list or in one text."""
    pairs = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
    marks = (model.get(name) or "" for name in ("continuing_subword_prefix", "end_of_word_suffix"))
    return Merges({(first, second): rank for rank, (first, second) in enumerate(pairs)}, *marks)


def with_parts(merges: Merges | None, pieces: Iterable[str]) -> set[str]:
    """Some pieces and those that they are made of; without merges the pieces alone."""
    return {part for piece in pieces for part in (merges.made_of(piece) if merges else (piece,))}

"""What differs between the attention of a model in two texts, over the words that both have."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from headscope.errors import HeadscopeError
from headscope.results.variables import places
from headscope.viewer import tiles
from headscope.viewer.text_maps import TextMaps
from headscope.viewer.text_tokens import TextTokens


class HeadChange(NamedTuple):
    """What changes in a head from one text to another; means over the words that both have.

    * `change`: absolute difference of the attention between two such words.
    * `first_alone`, `second_alone`: attention to words that the other text lacks.
    """

    layer: int
    head: int
    change: float
    first_alone: float
    second_alone: float


@dataclass(frozen=True, eq=False)
class TextChanges:
    """The maps of a model in two texts, compared by the words that both have.

    Attention is as the model gives it: a row over these words alone need not sum to 1.

    * `pairs`: the numbers of these words in each text; see `same_words`.
    """

    first: TextMaps
    second: TextMaps
    pairs: list[tuple[int, int]]

    @cached_property
    def heads(self) -> list[HeadChange]:
        """What changes in each head."""
        return [HeadChange(*head, *self._numbers(*head)) for head in places(self.first.heads)]

    @cached_property
    def overviews(self) -> list[tiles.Overview]:
        """The small maps of both texts between the words that both have."""
        return [tiles.overviews(self.first.heads, len(self.pairs), partial(self._shared, text)) for text in (0, 1)]

    def _shared(self, text: int, layer: int, head: int) -> tiles.Tile:
        words = self._words[text]
        return tiles.quantised(self._from_words(text, layer, head)[:, words])

    def _numbers(self, layer: int, head: int) -> tuple[float, ...]:
        first, second = (self._from_words(text, layer, head) for text in (0, 1))
        words, other_words = self._words
        change = np.abs(second[:, other_words] - first[:, words]).mean()
        alone = [np.delete(first, words, axis=1), np.delete(second, other_words, axis=1)]
        return float(change), *(float(attention.sum(1).mean()) for attention in alone)

    def _from_words(self, text: int, layer: int, head: int) -> Float[np.ndarray, "query key"]:
        """Attention from the words that both texts have to all words of a text."""
        return (self.first, self.second)[text].between_words(layer, head).attention[self._words[text], :]

    @property
    def _words(self) -> list[list[int]]:
        """The words of each text that both have, in the order of the first."""
        return [[pair[text] for pair in self.pairs] for text in (0, 1)]


def text_changes(first: TextMaps, second: TextMaps) -> TextChanges:
    """Compare the maps of two texts. Raises `HeadscopeError` if these have no word in common."""
    pairs = same_words(first.text, second.text)
    if all(first.text.words[number].span is None for number, _ in pairs):
        raise HeadscopeError("the two texts have no word in common; write a text that differs in a few words")
    return TextChanges(first, second, pairs)


def same_words(first: TextTokens, second: TextTokens) -> list[tuple[int, int]]:
    """The numbers of the words that two texts have in common, in the order of the first, whatever their case.

    What stands in the same order is found first, the longest run before all else. The rest is searched again, so that
    words that changed places are pairs, too. A special token is paired with a special token alone.
    """
    kinds = [[_words_of(text, special=special) for text in (first, second)] for special in (True, False)]
    return sorted(pair for words in kinds for pair in _in_any_order(*words))


def _words_of(text: TextTokens, *, special: bool) -> dict[int, str]:
    """The words of a text, or its special tokens, by their numbers."""
    return {
        number: word.text.casefold()
        for number, word in enumerate(text.words)
        if text.special[word.tokens[0]] == special
    }


def _in_any_order(first: dict[int, str], second: dict[int, str]) -> Iterator[tuple[int, int]]:
    """Pairs of the keys of equal values: those in the same order, then those of the rest."""
    while True:
        keys, words = [list(first), list(second)], [list(first.values()), list(second.values())]
        blocks = SequenceMatcher(None, *words, autojunk=False).get_matching_blocks()
        pairs = [(keys[0][a + at], keys[1][b + at]) for a, b, size in blocks for at in range(size)]
        if not pairs:
            return
        yield from pairs
        for number, second_number in pairs:
            del first[number], second[second_number]

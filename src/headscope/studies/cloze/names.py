"""The name control of Poerner et al. (2020): facts whose answer a model guesses from the subject's name alone."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import GAP, filled
from headscope.outputs.words.answer_ranks import answer_ranks
from headscope.outputs.words.logits import WordPredictor
from headscope.passes import Settings

# Relations of persons, and the kind of thing that a name suggests.
SUGGESTED = {
    "P19": "city",
    "P20": "city",
    "P27": "country",
    "P103": "language",
    "P1412": "language",
    "place_of_birth": "city",
    "place_of_death": "city",
}
GUESSES = 3


def string_matches(items: Sequence[ClozeItem]) -> Bool[np.ndarray, " item"]:
    """Whether the answer is a part of the subject's name, in lower case."""
    return np.array([item.good.scored.lower() in item.subject.lower() for item in items], bool)


def name_guesses(predictor: WordPredictor, items: Sequence[ClozeItem], settings: Settings) -> Bool[np.ndarray, " item"]:
    """Whether the answer is among the first three that the model gives for a word of a person's name."""
    queries: dict[tuple[str, str, str], list[int]] = {}
    for number, item in enumerate(items):
        if noun := SUGGESTED.get(item.phenomenon.partition(",")[0]):
            for word in item.subject.split():
                queries.setdefault((word, noun, item.good.scored), []).append(number)
    names = [_query(word, noun, answer) for word, noun, answer in queries]
    ranks = answer_ranks(predictor, names, settings).rank
    guessed = np.zeros(len(items), bool)
    for numbers, rank in zip(queries.values(), ranks.tolist(), strict=True):
        guessed[numbers] |= 0 < rank <= GUESSES
    return guessed


def _query(word: str, noun: str, answer: str) -> ClozeItem:
    context = f"{word} is a common name in the following {noun}: {GAP}."
    return ClozeItem(f"{word} {noun} {answer}", noun, filled(context, answer), (), answer)

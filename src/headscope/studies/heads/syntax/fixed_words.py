"""The best head of each relation on a page, and its fixed word in words."""

import xarray as xr

from headscope.report.best_heads import BestHeads, ChosenHead, chosen_heads, options
from headscope.report.wording import Estimate

FIXED = "fixed word"
RELATIONS = BestHeads(
    ("relation",),
    score="chosen_accuracy",
    gains=("chosen_gain",),
    baselines={FIXED: "chosen_baseline"},
    direction="chosen_direction",
    reference="chosen_word",
    cases="accuracy_n_examples",
    held_out="chosen_accuracy_n_examples",
)
POSITIONS = {1: "first", 2: "second", 3: "third", -1: "last", -2: "last but one"}
NEIGHBOURS = {"-1": "the previous word", "+1": "the next word"}
# Frequent relations of Universal and of Stanford Dependencies, in words.
WORDS = {
    "advmod": "adverbs",
    "amod": "adjectives",
    "aux": "auxiliaries",
    "case": "prepositions",
    "cc": "conjunctions",
    "compound": "compounds",
    "det": "determiners",
    "dobj": "direct objects",
    "mark": "markers of clauses",
    "nsubj": "subjects",
    "obj": "direct objects",
    "pobj": "objects of prepositions",
    "poss": "possessives",
}


def relations(result: xr.Dataset) -> list[ChosenHead]:
    """The relations of a result in its order, "all" first; without those that a half of the sentences lacks."""
    return chosen_heads(with_fixed_words(result), RELATIONS)


def with_fixed_words(result: xr.Dataset) -> xr.Dataset:
    """The result with `chosen_word`: "+1" for an offset, "first" for a position."""
    offsets, positions = result["chosen_offset"], result["chosen_position"]
    names = [
        f"{offset:+.0f}" if offset == offset else _position(position)
        for offset, position in zip(offsets.values.tolist(), positions.values.tolist(), strict=True)
    ]
    return result.assign(chosen_word=("relation", names))


def _position(position: float) -> str:
    if position != position:
        return ""
    from_end = f"word {abs(position):.0f}{' from the end' if position < 0 else ''}"
    return POSITIONS.get(int(position), from_end)


def baseline(relation: ChosenHead) -> Estimate:
    """The accuracy of the best fixed word."""
    return relation.baselines[FIXED]


def full_name(relation: ChosenHead) -> str:
    """The name, with the words for it where there are any: "subjects (nsubj)"."""
    return f"{WORDS[relation.name]} ({relation.name})" if relation.name in WORDS else relation.name


def fixed_word(relation: ChosenHead) -> str:
    """The best fixed word: "the next word", "the word 2 before", "the first word"."""
    name = relation.reference
    if name in NEIGHBOURS or name in POSITIONS.values():
        return NEIGHBOURS.get(name, f"the {name} word")
    return f"the word {name[1:]} {'after' if name[0] == '+' else 'before'}" if name[0] in "+-" else name


def as_coded(result: xr.Dataset) -> bool:
    """True if heads were chosen and scored on the same words."""
    return bool(options(result).get("as_coded"))


def judged_on(result: xr.Dataset) -> str:
    """The words on which the gain of a special head is measured."""
    return f"on {'the same sentences' if as_coded(result) else 'the other half of the sentences'}"

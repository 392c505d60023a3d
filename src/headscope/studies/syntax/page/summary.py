"""The relations of a result: the chosen head beside the best fixed offset, on the half on which it was not chosen."""

import xarray as xr

from headscope.report.best_heads.chosen import BestHeads, ChosenHead, chosen_heads, options
from headscope.report.wording import Estimate

OFFSET = "fixed offset"
RELATIONS = BestHeads(
    ("relation",),
    score="chosen_accuracy",
    gains=("chosen_gain",),
    baselines={OFFSET: "chosen_baseline"},
    direction="chosen_direction",
    reference="chosen_offset",
    cases="accuracy_n_examples",
    held_out="chosen_accuracy_n_examples",
)
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
    return chosen_heads(result, RELATIONS)


def baseline(relation: ChosenHead) -> Estimate:
    """The accuracy of the best fixed offset."""
    return relation.baselines[OFFSET]


def offset(relation: ChosenHead) -> int:
    """The best fixed offset: a distance in words, negative for words before."""
    return int(relation.reference)


def full_name(relation: ChosenHead) -> str:
    """The name, with the words for it where there are any: "subjects (nsubj)"."""
    return f"{WORDS[relation.name]} ({relation.name})" if relation.name in WORDS else relation.name


def word_at_offset(relation: ChosenHead) -> str:
    """The word at the best fixed offset: "the next word", "the word 2 before"."""
    near, distance = {-1: "the previous word", 1: "the next word"}, offset(relation)
    return near.get(distance, f"the word {abs(distance)} {'after' if distance > 0 else 'before'}")


def as_coded(result: xr.Dataset) -> bool:
    """True if heads were chosen and scored on the same words."""
    return bool(options(result).get("as_coded"))


def judged_on(result: xr.Dataset) -> str:
    """The words on which the gain of a special head is measured; version 0.1 took all words."""
    if as_coded(result):
        return "on the same sentences"
    held_out = "on the other half" in str(result["special"].attrs.get("long_name", ""))
    return "on the other half of the sentences" if held_out else "on all sentences"

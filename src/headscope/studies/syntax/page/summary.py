"""The relations of a result: the chosen head beside the best fixed offset, on the half on which it was not chosen."""

import json
from dataclasses import dataclass

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.wording import Estimate, estimate
from headscope.statistics.thresholds import enough, is_special

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


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with its chosen head; shares of words, with their intervals, on the other half of the sentences.

    * `head`: such as "8-10"; `looks`: whether the dependent looks at its syntactic head, else the reverse.
    * `q`: the false discovery rate of that head on all words.
    * `words`: of all sentences; `held_out`: of the half on which the head was not chosen.
    """

    name: str
    head: str
    looks: bool
    accuracy: Estimate
    baseline: Estimate
    offset: int
    gain: Estimate
    q: float
    words: int
    held_out: int

    @property
    def enough(self) -> bool:
        """True if there are enough words for a claim."""
        return enough(self.words)

    @property
    def special(self) -> bool:
        """True if the chosen head beats the offset by 10 points on the other half, and beyond chance."""
        return is_special(self.gain.value, self.q, self.words)

    @property
    def arrow(self) -> str:
        """The direction, in words."""
        return "dep → head" if self.looks else "head → dep"

    @property
    def words_of_name(self) -> str:
        """The name, with the words for it where there are any: "subjects (nsubj)"."""
        return f"{WORDS[self.name]} ({self.name})" if self.name in WORDS else self.name

    @property
    def place(self) -> str:
        """The word at the best fixed offset: "the next word", "the word 2 before"."""
        near = {-1: "the previous word", 1: "the next word"}
        side = "after" if self.offset > 0 else "before"
        return near.get(self.offset, f"the word {abs(self.offset)} {side}")


def relations(result: xr.Dataset) -> list[Relation]:
    """The relations of a result in its order, "all" first; without those that a half of the sentences lacks."""
    names = result["relation"].values[result["chosen_layer"].notnull().values].tolist()
    return [_relation(str(name), result.sel(relation=name)) for name in names]


def as_coded(result: xr.Dataset) -> bool:
    """True if heads were chosen and scored on the same words."""
    return bool(json.loads(result.attrs.get("options", "{}")).get("as_coded"))


def judged_on(result: xr.Dataset) -> str:
    """The words on which the gain of a special head is measured; version 0.1 took all words."""
    if as_coded(result):
        return "on the same sentences"
    held_out = "on the other half" in str(result["special"].attrs.get("long_name", ""))
    return "on the other half of the sentences" if held_out else "on all sentences"


def _relation(name: str, part: xr.Dataset) -> Relation:
    place = {"layer": int(part["chosen_layer"]), "head": int(part["chosen_head"])}
    direction = str(part["chosen_direction"].item())
    return Relation(
        name,
        head_name(place["layer"], place["head"]),
        direction == "dependent_to_head",
        estimate(part, "chosen_accuracy"),
        estimate(part, "chosen_baseline"),
        int(part["chosen_offset"]),
        estimate(part, "chosen_gain"),
        float(part["q_value"].sel(place | {"direction": direction})),
        int(part["accuracy_n_examples"]),
        int(part["chosen_accuracy_n_examples"]),
    )

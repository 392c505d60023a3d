"""What a result of `syntax` says of each relation: the chosen head beside the fixed offset, on the other half."""

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with its chosen head; shares of words, with their intervals, on the other half of the sentences.

    * `head`: as the papers write it; `looks`: whether the dependent looks at its head with it.
    * `q`: of that head on all words, `words`: of all sentences, `held_out`: of the other half.
    """

    name: str
    head: str
    looks: bool
    accuracy: tuple[float, float, float]
    baseline: tuple[float, float, float]
    offset: int
    gain: tuple[float, float, float]
    q: float
    words: int
    held_out: int

    @property
    def enough(self) -> bool:
        """Whether there are words enough for a claim."""
        return self.words >= LEAST_CASES

    @property
    def special(self) -> bool:
        """Whether the chosen head beats the offset by 10 points, on the other half too, and not by chance."""
        return self.gain[0] >= GAIN and self.q < RATE and self.enough

    @property
    def arrow(self) -> str:
        """The direction, in a word."""
        return "dep → head" if self.looks else "head → dep"


def relations(result: xr.Dataset) -> list[Relation]:
    """The relations of a result in its order, "all" first; without those that a half of the sentences lacks."""
    names = result["relation"].values[result["chosen_layer"].notnull().values].tolist()
    return [_relation(str(name), result.sel(relation=name)) for name in names]


def as_coded(result: xr.Dataset) -> bool:
    """Whether heads were chosen on the words that they are scored on."""
    return bool(json.loads(result.attrs.get("options", "{}")).get("as_coded"))


def _relation(name: str, part: xr.Dataset) -> Relation:
    place = {"layer": int(part["chosen_layer"]), "head": int(part["chosen_head"])}
    direction = str(part["chosen_direction"].item())
    return Relation(
        name,
        head_name(place["layer"], place["head"]),
        direction == "dependent_to_head",
        _interval(part, "chosen_accuracy"),
        _interval(part, "chosen_baseline"),
        int(part["chosen_offset"]),
        _interval(part, "chosen_gain"),
        float(part["q_value"].sel(place | {"direction": direction})),
        int(part["accuracy_n_examples"]),
        int(part["chosen_accuracy_n_examples"]),
    )


def _interval(part: xr.Dataset, name: str) -> tuple[float, float, float]:
    lower, upper = np.asarray(part[f"{name}_ci"]).tolist()
    return float(part[name]), lower, upper

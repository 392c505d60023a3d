"""What a result of `coreference` says of each kind of mention: the chosen head beside the baselines."""

from dataclasses import dataclass

import xarray as xr

from headscope.figures.labels import head_name
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE

# What a value is, and its 95% interval.
Bounded = tuple[float, float, float]
WORDS = {
    "nearest": "nearest mention",
    "head_match": "nearest of the same head word",
    "rules": "rules",
    "random": "chance",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of mention with its chosen head; shares of mentions on the other half.

    * `reference`: the better one of nearest and head match, which `gain` is over.
    * `q`: of that head on all mentions, `mentions`: of both halves, `held_out`: of the other half.
    """

    name: str
    head: str
    accuracy: Bounded
    baselines: dict[str, Bounded]
    reference: str
    gain: Bounded
    q: float
    mentions: int
    held_out: int

    @property
    def enough(self) -> bool:
        """Whether there are mentions enough for a claim."""
        return self.mentions >= LEAST_CASES

    @property
    def special(self) -> bool:
        """Whether the chosen head beats the reference by 10 points, on the other half too, and not by chance."""
        return self.gain[0] >= GAIN and self.q < RATE and self.enough


def kinds(result: xr.Dataset) -> list[Kind]:
    """The kinds of mentions of a result, "all" first; without those that a half of the documents lacks."""
    names = result["mention_type"].values[result["chosen_layer"].notnull().values].tolist()
    return [_kind(str(name), result.sel(mention_type=name), baselines(result)) for name in names]


def baselines(result: xr.Dataset) -> list[str]:
    """The baselines that choose anything at all: no pronoun that a corpus asks about has the head word of a name."""
    found = result["baseline_accuracy"].max("mention_type") > 0
    return [str(name) for name in result["baseline"].values[found.values]]


def asks(result: xr.Dataset) -> bool:
    """Whether the corpus asks about pronouns itself, with the candidates that it names."""
    return "f1" in result or "attention_gap" in result


def bounded(result: xr.Dataset, name: str) -> Bounded:
    """One value of a result with its interval."""
    lower, upper = result[f"{name}_ci"].values.tolist()
    return float(result[name]), lower, upper


def percent(value: Bounded) -> str:
    """A share in per cent.

    >>> percent((0.5, 0.25, 0.75))
    '50.0% [25.0, 75.0]'
    """
    middle, lower, upper = (100 * each for each in value)
    return f"{middle:.1f}% [{lower:.1f}, {upper:.1f}]"


def points(value: Bounded) -> str:
    """A difference of shares in points.

    >>> points((0.125, -0.25, 0.5))
    '+12.5 [-25.0, 50.0]'
    """
    middle, lower, upper = (100 * each for each in value)
    return f"{middle:+.1f} [{lower:.1f}, {upper:.1f}]"


def _kind(name: str, part: xr.Dataset, shown: list[str]) -> Kind:
    place = {"layer": int(part["chosen_layer"]), "head": int(part["chosen_head"])}
    return Kind(
        name,
        head_name(**place),
        bounded(part, "chosen_accuracy"),
        {each: bounded(part.sel(baseline=each), "chosen_baseline") for each in shown},
        str(part["chosen_reference"].item()),
        bounded(part, "chosen_gain"),
        float(part["q_value"].sel(place)),
        int(part["accuracy_n_examples"]),
        int(part["chosen_accuracy_n_examples"]),
    )

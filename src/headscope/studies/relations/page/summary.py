"""What a result of `relations` says of each relation: the chosen head beside its baselines, on the other half."""

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.wording import number
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE

Interval = tuple[float, float, float]
ARROWS = {"source_to_target": "source → target", "target_to_source": "target → source", "either": "either way"}


@dataclass(frozen=True, slots=True)
class Reading:
    """A head and a direction, and what links of a relation get in it; shares of attention with their intervals.

    * `elsewhere`, `others`: what links elsewhere get, and the same ends from other words; `gain`: on the larger.
    * `untrained`: the most that any head of the untrained model gives them; None without such a model.
    * `sentences`: of all that have such a link; `n`: of those that the values are of.
    """

    relation: str
    head: str
    direction: str
    attention: Interval
    elsewhere: Interval
    others: Interval
    gain: Interval
    untrained: float | None
    q: float
    sentences: int
    n: int

    @property
    def enough(self) -> bool:
        """Whether there are sentences enough for a claim."""
        return self.sentences >= LEAST_CASES

    @property
    def special(self) -> bool:
        """Whether links gain 0.1 on both baselines, not by chance, and get more than in any untrained head."""
        above = self.untrained is None or self.attention[0] > self.untrained
        return self.gain[0] >= GAIN and self.q < RATE and self.enough and above

    @property
    def arrow(self) -> str:
        """The direction, in words."""
        return ARROWS[self.direction]


def chosen(result: xr.Dataset) -> list[Reading]:
    """The chosen head of each relation on the other half, in the order of the result; without those that lack one."""
    names = result["relation"].values[result["chosen_layer"].notnull().values].tolist()
    return [_chosen(str(name), result.sel(relation=name)) for name in names]


def highest(result: xr.Dataset, direction: str, most: int, relation: str = "all") -> list[Reading]:
    """The heads that give the most to links, in all sentences, whatever links elsewhere get."""
    part = result.sel(relation=relation, direction=direction)
    ranked = part["link_attention"].stack(place=("layer", "head")).dropna("place")
    order = ranked["place"].values[np.argsort(-ranked.values, kind="stable")][:most]
    return [_reading(relation, direction, part, {"layer": int(layer), "head": int(head)}) for layer, head in order]


def options(result: xr.Dataset) -> dict:
    """How the study was run."""
    return json.loads(result.attrs.get("options", "{}"))


def filtered(result: xr.Dataset) -> list[tuple[str, int]]:
    """What the limits dropped, step by step, from what was read to what was kept."""
    steps = json.loads(result.attrs.get("filter", "{}"))
    return [("read", steps["read"]), *steps["dropped"].items(), ("kept", steps["kept"])] if steps else []


def told(interval: Interval) -> str:
    """A value with its interval.

    >>> told((0.178, 0.173, 0.184))
    '0.18 [0.17, 0.18]'
    """
    value, lower, upper = map(number, interval)
    return f"{value} [{lower}, {upper}]"


def _chosen(name: str, part: xr.Dataset) -> Reading:
    place = {"layer": int(part["chosen_layer"]), "head": int(part["chosen_head"])}
    direction = str(part["chosen_direction"].item())
    return Reading(
        name,
        head_name(place["layer"], place["head"]),
        direction,
        *_values(part, "chosen_attention", "chosen_"),
        _untrained(part.sel(direction=direction)),
        float(part["q_value"].sel(place | {"direction": direction})),
        int(part["gain_n_examples"]),
        int(part["chosen_attention_n_examples"]),
    )


def _reading(relation: str, direction: str, part: xr.Dataset, place: dict[str, int]) -> Reading:
    one, sentences = part.sel(place), int(part["gain_n_examples"])
    return Reading(
        relation,
        head_name(**place),
        direction,
        *_values(one, "link_attention"),
        _untrained(part),
        float(one["q_value"]),
        sentences,
        sentences,
    )


def _values(part: xr.Dataset, name: str, prefix: str = "") -> tuple[Interval, Interval, Interval, Interval]:
    """What links get, what each baseline gets, and the gain on the larger of them."""
    elsewhere, others, *gains = (
        _interval(part, f"{prefix}{each}") for each in ("elsewhere", "others", "gain", "gain_others")
    )
    return _interval(part, name), elsewhere, others, min(gains)


def _untrained(part: xr.Dataset) -> float | None:
    return float(part["untrained"].max()) if "untrained" in part else None


def _interval(part: xr.Dataset, name: str) -> Interval:
    lower, upper = np.asarray(part[f"{name}_ci"]).tolist()
    return float(part[name]), lower, upper

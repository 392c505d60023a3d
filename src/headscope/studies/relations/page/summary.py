"""The relations of a result: the chosen head beside its baselines, on the half on which it was not chosen."""

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.wording import Estimate, estimate
from headscope.statistics.thresholds import enough, is_special

ARROWS = {"source_to_target": "source → target", "target_to_source": "target → source", "either": "either way"}


@dataclass(frozen=True, slots=True)
class LinkReading:
    """The attention that a head gives to the links of a relation in one direction, as shares.

    * `elsewhere`: attention to links moved elsewhere; `others`: from other words; `gain`: over the larger of the two.
    * `untrained`: the largest value of any head of the untrained model; None without such a model.
    * `sentences`: all sentences with such a link; `n`: those that the values are means of.
    """

    relation: str
    head: str
    direction: str
    attention: Estimate
    elsewhere: Estimate
    others: Estimate
    gain: Estimate
    untrained: float | None
    q: float
    sentences: int
    n: int

    @property
    def enough(self) -> bool:
        """True if there are enough sentences for a claim."""
        return enough(self.sentences)

    @property
    def special(self) -> bool:
        """True if the gain over both baselines is 0.1, beyond chance, and the value above any untrained head."""
        above = self.untrained is None or self.attention.value > self.untrained
        return above and is_special(self.gain.value, self.q, self.sentences)

    @property
    def arrow(self) -> str:
        """The direction, in words."""
        return ARROWS[self.direction]


def chosen(result: xr.Dataset) -> list[LinkReading]:
    """The chosen head of each relation on the other half, in the order of the result; without those that lack one."""
    names = result["relation"].values[result["chosen_layer"].notnull().values].tolist()
    return [_chosen(str(name), result.sel(relation=name)) for name in names]


def highest(result: xr.Dataset, direction: str, most: int, relation: str = "all") -> list[LinkReading]:
    """The heads that give the most attention to links in all sentences, without regard to the baselines."""
    part = result.sel(relation=relation, direction=direction)
    ranked = part["link_attention"].stack(place=("layer", "head")).dropna("place")
    order = ranked["place"].values[np.argsort(-ranked.values, kind="stable")][:most]
    return [_reading(relation, direction, part, {"layer": int(layer), "head": int(head)}) for layer, head in order]


def options(result: xr.Dataset) -> dict:
    """The options of the study."""
    return json.loads(result.attrs.get("options", "{}"))


def filtered(result: xr.Dataset) -> list[tuple[str, int]]:
    """The steps of the filter and their numbers: read, dropped for each reason, kept."""
    steps = json.loads(result.attrs.get("filter", "{}"))
    return [("read", steps["read"]), *steps["dropped"].items(), ("kept", steps["kept"])] if steps else []


def _chosen(name: str, part: xr.Dataset) -> LinkReading:
    place = {"layer": int(part["chosen_layer"]), "head": int(part["chosen_head"])}
    direction = str(part["chosen_direction"].item())
    return LinkReading(
        name,
        head_name(place["layer"], place["head"]),
        direction,
        *_values(part, "chosen_attention", "chosen_"),
        _untrained(part.sel(direction=direction)),
        float(part["q_value"].sel(place | {"direction": direction})),
        int(part["gain_n_examples"]),
        int(part["chosen_attention_n_examples"]),
    )


def _reading(relation: str, direction: str, part: xr.Dataset, place: dict[str, int]) -> LinkReading:
    one, sentences = part.sel(place), int(part["gain_n_examples"])
    return LinkReading(
        relation,
        head_name(**place),
        direction,
        *_values(one, "link_attention"),
        _untrained(part),
        float(one["q_value"]),
        sentences,
        sentences,
    )


def _values(part: xr.Dataset, name: str, prefix: str = "") -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Returns: the attention to links, that of each baseline, and the gain over the larger of them."""
    elsewhere, others, *gains = (
        estimate(part, f"{prefix}{each}") for each in ("elsewhere", "others", "gain", "gain_others")
    )
    return estimate(part, name), elsewhere, others, min(gains, key=lambda gain: gain.value)


def _untrained(part: xr.Dataset) -> float | None:
    return float(part["untrained"].max()) if "untrained" in part else None

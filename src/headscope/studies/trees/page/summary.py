"""The trees of a result: the chosen head beside baselines, by metric, root and special tokens."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.wording import Estimate, estimate

METRICS = {"uas": "UAS", "uuas": "UUAS"}
ROOTS = {"gold": "gold root", "best": "best root", "undirected": "no root"}
SPECIAL = {"left_out": "words alone", "kept": "special tokens kept"}
BASELINES = {
    "right_branching": "right-branching",
    "left_branching": "left-branching",
    "fixed_offset": "best fixed offset",
    "balanced": "balanced",
    "random": "random",
}
DISTANCES = {"jensen_shannon": "Jensen-Shannon distance", "hellinger": "Hellinger distance"}


@dataclass(frozen=True, slots=True)
class ChosenTree:
    """The head that was chosen on one half of the sentences, scored on the other.

    * `score`, `gain`: shares of words, and the difference to the best fixed offset; `random`: of the best head of the
      same model with random weights, None where that was not measured.
    """

    metric: str
    root: str
    special: str
    head: str
    direction: str
    score: Estimate
    gain: Estimate
    random: Estimate | None

    @property
    def words(self) -> str:
        """The way the tree is made, in words."""
        return f"{ROOTS[self.root]}, {SPECIAL[self.special]}"


def chosen(result: xr.Dataset, metric: str) -> list[ChosenTree]:
    """The chosen heads of a metric, the highest scores first; none where a half of the sentences is empty."""
    trees = [
        _tree(result, {"metric": metric, "root": root, "special_tokens": special})
        for root in ROOTS
        for special in SPECIAL
        if np.isfinite(result["chosen_score"].sel(metric=metric, root=root, special_tokens=special))
    ]
    return sorted(trees, key=lambda each: -each.score.value)


def _tree(result: xr.Dataset, place: dict[str, str]) -> ChosenTree:
    part = result.sel(place)
    return ChosenTree(
        place["metric"],
        place["root"],
        place["special_tokens"],
        head_name(int(part["chosen_layer"]), int(part["chosen_head"])),
        arrow(str(part["chosen_direction"].item())) if place["root"] != "undirected" else "both",
        estimate(part, "chosen_score"),
        estimate(part, "chosen_gain"),
        estimate(part, "random_score") if "random_score" in result else None,
    )


def baseline(result: xr.Dataset, metric: str, name: str) -> Estimate:
    """The score of a tree that needs no model."""
    return estimate(result, "baseline_score", metric=metric, baseline=name)


def arrow(direction: str) -> str:
    """A direction in words."""
    return "dep → head" if direction == "dependent_to_head" else "head → dep"


@dataclass(frozen=True, slots=True)
class ChosenPhrases:
    """The head whose phrases are best on one half of the sentences, scored on the other; gain over right-branching."""

    distance: str
    special: str
    head: str
    score: Estimate
    gain: Estimate
    random: Estimate | None


def chosen_phrases(result: xr.Dataset) -> list[ChosenPhrases]:
    """The chosen heads of a corpus with phrases, the highest F1 first."""
    if "chosen_f1" not in result:
        return []
    heads = [_phrases(result, distance, special) for distance in DISTANCES for special in SPECIAL]
    return sorted((each for each in heads if np.isfinite(each.score.value)), key=lambda each: -each.score.value)


def _phrases(result: xr.Dataset, distance: str, special: str) -> ChosenPhrases:
    part = result.sel(distance=distance, special_tokens=special)
    place = part["chosen_f1_layer"], part["chosen_f1_head"]
    return ChosenPhrases(
        distance,
        special,
        head_name(*(int(each) for each in place)) if np.isfinite(place[0]) else "",
        estimate(part, "chosen_f1"),
        estimate(part, "gain_f1"),
        estimate(part, "random_f1") if "random_f1" in result else None,
    )

"""The kinds of mentions of a result: the chosen head beside the baselines."""

from dataclasses import dataclass

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.wording import Estimate, estimate
from headscope.statistics.thresholds import enough, is_special

WORDS = {
    "nearest": "nearest mention",
    "head_match": "nearest mention of the same head word",
    "rules": "rules",
    "random": "chance",
}


@dataclass(frozen=True, slots=True)
class MentionKind:
    """A kind of mention with its chosen head; shares of mentions on the other half.

    * `reference`: the better one of nearest and head match; `gain`: over it.
    * `q`: the false discovery rate of that head on all mentions.
    * `mentions`: of both halves; `held_out`: of the half on which the head was not chosen.
    """

    name: str
    head: str
    accuracy: Estimate
    baselines: dict[str, Estimate]
    reference: str
    gain: Estimate
    q: float
    mentions: int
    held_out: int

    @property
    def enough(self) -> bool:
        """True if there are enough mentions for a claim."""
        return enough(self.mentions)

    @property
    def special(self) -> bool:
        """True if the chosen head beats the reference by 10 points on the other half, and beyond chance."""
        return is_special(self.gain.value, self.q, self.mentions)


def kinds(result: xr.Dataset) -> list[MentionKind]:
    """The kinds of mentions of a result, "all" first; without those that a half of the documents lacks."""
    names = result["mention_type"].values[result["chosen_layer"].notnull().values].tolist()
    return [_kind(str(name), result.sel(mention_type=name), baselines(result)) for name in names]


def baselines(result: xr.Dataset) -> list[str]:
    """The baselines that find any antecedent; no pronoun that a corpus asks about has the head word of a name."""
    useful = result["baseline_accuracy"].max("mention_type") > 0
    return [str(name) for name in result["baseline"].values[useful.values]]


def asks(result: xr.Dataset) -> bool:
    """True if the corpus names the pronouns and their candidates itself."""
    return "f1" in result or "attention_gap" in result


def _kind(name: str, part: xr.Dataset, references: list[str]) -> MentionKind:
    place = {"layer": int(part["chosen_layer"]), "head": int(part["chosen_head"])}
    return MentionKind(
        name,
        head_name(**place),
        estimate(part, "chosen_accuracy"),
        {each: estimate(part.sel(baseline=each), "chosen_baseline") for each in references},
        str(part["chosen_reference"].item()),
        estimate(part, "chosen_gain"),
        float(part["q_value"].sel(place)),
        int(part["accuracy_n_examples"]),
        int(part["chosen_accuracy_n_examples"]),
    )

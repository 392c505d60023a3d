"""The kinds of mentions of a result: the chosen head beside the baselines."""

from dataclasses import replace

import xarray as xr

from headscope.report.best_heads.chosen import BestHeads, ChosenHead, chosen_heads
from headscope.report.wording import estimate

WORDS = {
    "nearest": "nearest mention",
    "head_match": "nearest mention of the same head word",
    "rules": "rules",
    "random": "chance",
}
KINDS = BestHeads(
    ("mention_type",),
    score="chosen_accuracy",
    gains=("chosen_gain",),
    reference="chosen_reference",
    cases="accuracy_n_examples",
    held_out="chosen_accuracy_n_examples",
)


def kinds(result: xr.Dataset) -> list[ChosenHead]:
    """The kinds of mentions of a result, "all" first; without those that a half of the documents lacks."""
    names = baselines(result)
    heads = [
        replace(
            head, baselines={name: estimate(result, "chosen_baseline", baseline=name, **head.labels) for name in names}
        )
        for head in chosen_heads(result, KINDS)
    ]
    return [head for head in heads if head.is_known]


def baselines(result: xr.Dataset) -> list[str]:
    """The baselines that find any antecedent; no pronoun that a corpus asks about has the head word of a name."""
    useful = ~(result["baseline_accuracy"].max("mention_type") <= 0)  # what was not measured is not left out
    return [str(name) for name in result["baseline"].values[useful.values]]


def asks(result: xr.Dataset) -> bool:
    """True if the corpus names the pronouns and their candidates itself."""
    return "f1" in result or "attention_gap" in result

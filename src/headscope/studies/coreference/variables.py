"""The variables of a result: what each is, in which unit, and where it is from."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from headscope.results.variables import array, described
from headscope.results.vocabulary import BOUNDS
from headscope.studies.coreference import baselines, gender_bias, stereotypes

CLARK, WEBSTER = "Clark et al. 2019, section 4.3", "Webster et al. 2018, section 4"
ATTENTION, SENTENCES = "share of attention", "share of sentences"
WINO = "Zhao et al. 2018; Rudinger et al. 2018"
SHARE = "share of mentions"
# What a variable is, in which unit, and where it is from.
VARIABLES = {
    "accuracy": ("mentions at whose antecedent the attention of their head word points", SHARE, CLARK),
    "accuracy_n_examples": ("mentions that have an antecedent", "mentions", CLARK),
    "q_value": ("false discovery rate at which the head is better than nearest and head match", "rate", CLARK),
    "special": (
        "whether the head beats nearest and head match by 10 points, with q < 0.05, in at least 50 mentions",
        "1 if so",
        CLARK,
    ),
    "baseline_accuracy": ("mentions whose antecedent a simple baseline picks", SHARE, CLARK),
    "reference": ("the better one of nearest and head match", "baseline", CLARK),
    "chosen_layer": ("layer of the head that is best on one half", "layer", CLARK),
    "chosen_head": ("number in its layer of the head that is best on one half", "head", CLARK),
    "chosen_reference": ("the better one of nearest and head match on one half", "baseline", CLARK),
    "chosen_accuracy": ("mentions whose antecedent the chosen head picks, on the other half", SHARE, CLARK),
    "chosen_accuracy_n_examples": ("mentions on the other half", "mentions", CLARK),
    "chosen_baseline": ("mentions whose antecedent a baseline picks, on the other half", SHARE, CLARK),
    "chosen_gain": ("accuracy of the chosen head less that of the chosen reference, on the other half", SHARE, CLARK),
    "f1": ("F1 of names called coreferent with a pronoun", "F1", WEBSTER),
    "f1_n_examples": ("pronouns", "pronouns", WEBSTER),
    "bias_ratio": ("F1 of feminine pronouns over that of masculine ones", "ratio", WEBSTER),
    "baseline_f1": ("F1 of names that a baseline calls coreferent with a pronoun", "F1", WEBSTER),
    "baseline_bias_ratio": ("F1 of feminine over masculine pronouns, of a baseline", "ratio", WEBSTER),
    "chosen_f1": ("F1 of the head that is chosen on one half, on the other half", "F1", WEBSTER),
    "chosen_f1_n_examples": ("pronouns on the other half", "pronouns", WEBSTER),
    "chosen_bias_ratio": ("F1 of feminine over masculine pronouns of the chosen head", "ratio", WEBSTER),
    "attention": ("attention of the pronoun to the candidate of the stereotype", ATTENTION, WINO),
    "attention_n_examples": ("pairs of sentences", "pairs", WINO),
    "attention_gap": ("attention to that candidate in the pro sentence less that in the anti one", ATTENTION, WINO),
    "attention_gap_q": ("false discovery rate at which there is such a gap", "rate", WINO),
    "preference": ("sentences in which that candidate gets more attention than the other", SENTENCES, WINO),
    "preference_n_examples": ("pairs of sentences", "pairs", WINO),
    "preference_gap": ("preference in pro sentences less that in anti sentences", SENTENCES, WINO),
    "preference_gap_q": ("false discovery rate at which there is such a gap", "rate", WINO),
    "chosen_preference_gap": ("preference gap of the chosen head, on the other half", SENTENCES, WINO),
}  # fmt: skip
LABELS: dict[str, Sequence[str]] = {
    "baseline": baselines.NAMES,
    "gender": gender_bias.NAMES,
    "stereotype": stereotypes.STEREOTYPES,
    "bound": BOUNDS,
}
# The values of a variable, and its dimensions.
Values = tuple[Any, tuple[str, ...]]


def variables(
    found: Mapping[str, Values], labels: Mapping[str, Sequence[str]] | None = None
) -> dict[str, xr.DataArray]:
    """Values with their labels; `labels` are those of dimensions that are not always the same."""
    known = LABELS | dict(labels or {})
    return {name: _variable(name, array(values, dims, known)) for name, (values, dims) in found.items()}


def _variable(name: str, values: xr.DataArray) -> xr.DataArray:
    return described(name, values, *VARIABLES[name.removesuffix("_ci")])

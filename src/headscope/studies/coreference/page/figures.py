"""Figures of `coreference`: chosen heads beside baselines, every head, and what gender does to each."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval
from headscope.report.parts import Figure
from headscope.results import same_bounds
from headscope.studies.coreference.page.confusion import confusion_figures, has_conditions
from headscope.studies.coreference.page.tables import WORDS, asks, baselines

BEST, WHERE, GENDER = "The best heads", "Which heads", "Gender"


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result; those of gender for GAP, those of stereotypes for WinoBias and Winogender."""
    return [*_antecedents(result), *_genders(result), *_stereotypes(result), *confusion_figures(result)]


def _antecedents(result: xr.Dataset) -> Iterator[Figure]:
    caption = (
        "Mentions whose antecedent the chosen head and the baselines find, with 95% intervals, on the half of the "
        "corpus on which heads were not chosen. After Clark et al. (2019), Table 2."
    )
    yield Figure("chosen", BEST, bars(_beside(result)), caption, "chosen_accuracy")
    accuracy = with_interval(result, "accuracy")
    caption = "How often each head points from a mention at one of its antecedents."
    single = accuracy.sizes["mention_type"] == 1
    plotted = accuracy.isel(mention_type=0, drop=True) if single else accuracy
    yield Figure("accuracy", WHERE, heatmap(plotted), caption, "accuracy")
    overall = result.isel(mention_type=0)
    reference = str(overall["reference"].item())
    yield Figure(
        "all-by_layer",
        WHERE,
        by_layer(
            accuracy.isel(mention_type=0, drop=True),
            reference=float(overall["baseline_accuracy"].sel(baseline=reference)),
            reference_label=WORDS[reference],
        ),
        f"A dot for each head, a line for the layer's mean: antecedents found, {_what(result)}.",
        "accuracy",
    )


def _what(result: xr.Dataset) -> str:
    if has_conditions(result):
        return "all questions"
    return "all pronouns that have one" if asks(result) else "all kinds of mentions"


def _beside(result: xr.Dataset) -> xr.DataArray:
    """Chosen head and baselines as one array [kind of mention, which]."""
    best = with_interval(result, "chosen_accuracy").drop_vars("n_examples", errors="ignore")
    base = (
        with_interval(result, "chosen_baseline").sel(baseline=baselines(result)).transpose("mention_type", "baseline")
    )
    names = [WORDS[str(name)] for name in base["baseline"].values]
    base = base.rename(baseline="which").assign_coords(which=names)
    parts = same_bounds([best.expand_dims(which=["best head"]), base])
    joined = xr.concat(parts, "which").transpose("mention_type", "which")
    attrs = {"long_name": "mentions whose antecedent is found", "units": "share of mentions"}
    return joined.rename("accuracy").assign_attrs(attrs)


def _genders(result: xr.Dataset) -> Iterator[Figure]:
    if "f1" not in result:
        return
    caption = "F1 over the names of all passages, by the gender of the pronoun."
    yield Figure("f1", GENDER, heatmap(with_interval(result, "f1")), caption, "f1")
    gap = result["f1"].sel(gender="feminine", drop=True) - result["f1"].sel(gender="masculine", drop=True)
    gap = gap.rename("gap").assign_attrs(long_name="F1 of feminine minus that of masculine pronouns", units="F1")
    caption = "Above 0: better on feminine pronouns. Below 0: better on masculine pronouns."
    yield Figure("f1_gap", GENDER, heatmap(gap, diverging=True), caption, "bias_ratio")


def _stereotypes(result: xr.Dataset) -> Iterator[Figure]:
    captions = {
        "attention_gap": "Attention of the pronoun to the occupation in pro sentences minus that in anti sentences.",
        "preference_gap": "How often a head prefers the occupation: pro sentences minus anti sentences.",
    }
    for name, caption in captions.items():
        if name in result:
            yield Figure(name, GENDER, heatmap(with_interval(result, name), diverging=True), caption, name)

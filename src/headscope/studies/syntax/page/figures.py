"""Figures of `syntax`: the best head of each relation beside its baseline, and every head's gain over it."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval
from headscope.report.best_heads.parts import beside, frequent
from headscope.report.parts import Figure
from headscope.studies.syntax.page.tables import as_coded

BEST, WHERE = "The best head of each relation", "Which heads"
MOST_RELATIONS = 12


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result; relations of few words are left out of them."""
    enough = frequent(result, "accuracy_n_examples")
    gains = _gain(enough.isel(relation=slice(MOST_RELATIONS)))
    on = "the same sentences" if as_coded(result) else "the half of the sentences on which they were not chosen"
    return [
        Figure(
            "chosen",
            BEST,
            bars(_beside(enough)),
            f"Accuracy of the chosen head and of the chosen fixed word on {on}, with 95% intervals. "
            "After Clark et al. (2019), Table 1.",
            "chosen_accuracy",
        ),
        Figure(
            "gain",
            WHERE,
            heatmap(gains),
            f"Accuracy of each head, in its better direction, less that of the best fixed word; 0 for heads that are "
            f"no better. The {MOST_RELATIONS} most frequent relations.",
            "accuracy",
        ),
        *_all_words(result),
    ]


def _all_words(result: xr.Dataset) -> Iterator[Figure]:
    """All heads by layer; nothing where all words are roots and punctuation."""
    accuracy = with_interval(result, "accuracy").sel(relation="all", drop=True)
    if bool(accuracy.notnull().any()):
        baseline = float(result["baseline"].sel(relation="all"))
        yield Figure(
            "all-by_layer",
            WHERE,
            by_layer(accuracy, reference=baseline, reference_label="best fixed word"),
            "A dot for each head, a line for the layer's mean: how often it picks the syntactic head of any word.",
            "accuracy",
        )


def _beside(result: xr.Dataset) -> xr.DataArray:
    """Chosen head and fixed word as one array: "all", then the relations that gain most."""
    names = {"best head": "chosen_accuracy", "fixed word": "chosen_baseline"}
    joined = beside(result, {words: with_interval(result, name) for words, name in names.items()})
    attrs = {"long_name": "words whose syntactic head is picked", "units": "share of words"}
    return joined.rename("accuracy").assign_attrs(attrs)


def _gain(result: xr.Dataset) -> xr.DataArray:
    gain = 100 * (result["accuracy"].max("direction") - result["baseline"])
    return gain.clip(min=0).rename("gain").assign_attrs(long_name="Gain over the best fixed word", units="points")

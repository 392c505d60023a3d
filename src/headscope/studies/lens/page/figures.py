"""Figures of `lens`: the predictions of each layer, agreement by layer, and single examples."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import curve, with_interval
from headscope.figures.layer_scores import layer_grid
from headscope.report.parts import Figure, LayerNumber
from headscope.studies.lens.page.findings import lenses

PREDICTIONS, ITEMS, EXAMPLES = "Predictions by layer", "Items by layer", "Single predictions"
LENSES = "Space 0 are the embeddings. plain: states as they are; mapped: by an affine map to those of the last layer. "
LETTERS, CONTEXT = 8, 26


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result, the predictions first."""
    return [*_predictions(result), *_agreement(result), *_examples(result)]


def _predictions(result: xr.Dataset) -> Iterator[Figure]:
    captions = {
        "final_first": "How often the head of the model predicts from a layer what it predicts from the last one. ",
        "right": "How often it predicts the right piece from a layer. ",
        "settled": "How many predictions are settled: no layer from this one on predicts another piece. ",
        "final_rank": "Rank of the final prediction among all pieces of the vocabulary, geometric mean. ",
    }
    for name, caption in captions.items():
        array = with_interval(result, name).sel(lens=lenses(result)).drop_vars("n_examples", errors="ignore")
        chart = curve(array.transpose("space", "lens"), "space", percent=name != "final_rank")
        yield Figure(name.replace("_", "-"), PREDICTIONS, chart, f"{caption}{LENSES}", name)


def _agreement(result: xr.Dataset) -> Iterator[Figure]:
    if "agreement" not in result:
        return
    for lens in lenses(result):
        array = with_interval(result, "agreement").sel(lens=lens, drop=True).drop_vars("n_examples", errors="ignore")
        array = array.isel(condition=slice(7)).transpose("space", "condition")  # as many lines as there are colours
        caption = (
            f"Share of the items of {result.attrs['suite']} whose good answer has the higher probability, by "
            f"condition; lens {lens}. Half is chance."
        )
        yield Figure(
            f"agreement-{lens}", ITEMS, curve(array, "space", percent=True, reference=0.5), caption, "agreement"
        )


def _examples(result: xr.Dataset) -> Iterator[Figure]:
    examples = json.loads(result.attrs["examples"])
    if examples:
        names = [f"{number}. {_short(one)}" for number, one in enumerate(examples, 1)]
        coords = {
            "number": names,
            "layer": list(range(len(examples[0]["pieces"]))),
            "text": (("number", "layer"), [[piece[:LETTERS] for piece in one["pieces"]] for one in examples]),
            "chosen": ("number", [one["settled"] for one in examples]),
        }
        array = xr.DataArray(np.array([one["probabilities"] for one in examples]), coords, ("number", "layer"))
        caption = (
            "The piece that each layer predicts for a gap (0: embeddings), the darker the more probable in its row. "
            "Framed: the layer from which on the prediction stays. Shown are right predictions that are settled last."
        )
        yield Figure("late", EXAMPLES, layer_grid(array, "What each layer predicts"), caption, "settled")


def _short(example: dict) -> str:
    """The text around a gap in a few letters."""
    before, after = example["before"][-CONTEXT:], example["after"][: CONTEXT // 2]
    return f"{before} ___ {after}".strip()


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """How often each layer predicts what the last one does."""
    for lens in lenses(result):
        array = with_interval(result, "final_first").sel(lens=lens, drop=True).rename(space="layer")
        yield LayerNumber("Predictions", f"final prediction read from the layer ({lens})", array, None)

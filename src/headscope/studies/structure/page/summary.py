"""The scores of a result in words, beside those of the paper."""

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.wording import Estimate, estimate

NAMES = {
    "uuas": "Edges of the tree (UUAS)",
    "root_accuracy": "Root",
    "distance_spearman": "Distances (correlation)",
    "norm_spearman": "Depths (correlation)",
}
SHARES = ("uuas", "root_accuracy")
BASELINES = {
    "embeddings": "embeddings, without context",
    "decay": "nearest embeddings",
    "linear": "order of the words",
}
# Hewitt and Manning (2019), Table 1: Penn Treebank with Stanford dependencies.
PAPER = {
    "BERT-base, layer 7 (paper)": (0.798, 0.880, 0.85, 0.87),
    "ELMo, random weights (paper)": (0.598,),
    "Order of the words (paper)": (0.489,),
}


@dataclass(frozen=True, slots=True)
class Layer:
    """The layer that held-out sentences choose, and its scores on the test sentences by name."""

    number: int
    scores: dict[str, Estimate]


def chosen(result: xr.Dataset) -> Layer:
    """The layer whose probe is best on held-out training sentences."""
    number = int(result.attrs["chosen_layer"])
    return Layer(number, {name: estimate(result, name, layer=number) for name in NAMES})


def best_baseline(result: xr.Dataset, name: str = "uuas") -> tuple[str, Estimate]:
    """The best baseline by a score: its words, and the score."""
    values = result[f"{name}_baseline"]
    label = str(values["baseline"].values[int(np.nanargmax(values.values))])
    return BASELINES[label], estimate(result, f"{name}_baseline", baseline=label)


def training(result: xr.Dataset) -> dict:
    """The training data: corpus, sentences, words."""
    return json.loads(result.attrs["training"])

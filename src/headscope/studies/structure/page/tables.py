"""The scores of all layers and baselines in one table, beside those of the paper."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import Cell, Estimate, estimate

NAMES = {
    "uuas": "Edges of the tree (UUAS)",
    "root_accuracy": "Roots of sentences",
    "distance_spearman": "Distances (correlation)",
    "norm_spearman": "Depths (correlation)",
}
SHARES = ("uuas", "root_accuracy")
BASELINES = {
    "embeddings": "embeddings, without context",
    "decay": "nearest embeddings",
    "linear": "order of the words",
}
ROLE_SCHEMES = {
    "bag_of_words": "no place",
    "left_to_right": "from the left",
    "right_to_left": "from the right",
    "bidirectional": "from both ends",
    "tree": "in the tree",
    "shuffled_tree": "in a shuffled tree",
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


def tables(result: xr.Dataset) -> list[Table]:
    """Layers, then baselines, then the paper."""
    caption = (
        "Edges and root in per cent, rank correlations for distances and depths, with 95% intervals over sentences. "
        "Paper: Hewitt and Manning (2019), Table 1: Penn Treebank with Stanford dependencies."
    )
    columns = tuple(Column(name, words) for name, words in NAMES.items())
    return [Table("scores", caption, ("Vectors",), columns, list(_rows(result))), *_products(result)]


def _products(result: xr.Dataset) -> Iterator[Table]:
    """Errors of tensor products: schemes of roles by layer."""
    if "tensor_product_error" in result:
        layers = result["layer"].values.tolist()
        caption = (
            "Error of the vectors of sentences as tensor products of words and places, in per cent of their variance, "
            "by layer; with the number of roles and of parameters of a layer. After McCoy et al. (2019)."
        )
        columns = [Column(f"layer-{layer}", f"Layer {layer}") for layer in layers]
        columns += [Column("roles", "Roles"), Column("parameters", "Parameters")]
        rows = [((words,), _of_scheme(result, scheme, layers)) for scheme, words in ROLE_SCHEMES.items()]
        yield Table("tensor-products", caption, ("Place of a word",), tuple(columns), rows)


def _of_scheme(result: xr.Dataset, scheme: str, layers: list[int]) -> Cells:
    errors = [estimate(result, "tensor_product_error", role_scheme=scheme, layer=layer) for layer in layers]
    sizes = [int(result[f"tensor_product_{name}"].sel(role_scheme=scheme)) for name in ("roles", "parameters")]
    return [*(error.known_cell(".1f", 100) for error in errors), *((f"{size:,}", "") for size in sizes)]


def _rows(result: xr.Dataset) -> Iterator[tuple[tuple[Any, ...], Cells]]:
    for layer in result["layer"].values.tolist():
        yield (f"layer {layer}",), [_cell(name, estimate(result, name, layer=layer)) for name in NAMES]
    if "uuas_random" in result:
        best = int(result.attrs["chosen_layer"])
        scores = [_cell(name, estimate(result, f"{name}_random", layer=best)) for name in NAMES]
        yield (f"layer {best}, random weights",), scores
    for label, words in BASELINES.items():
        yield (words,), [_cell(name, estimate(result, f"{name}_baseline", baseline=label)) for name in NAMES]
    for words, scores in PAPER.items():
        yield (
            (words,),
            [_cell(name, Estimate(value)) for name, value in zip(NAMES, scores, strict=False)]
            + [None] * (len(NAMES) - len(scores)),
        )


def _cell(name: str, score: Estimate) -> Cell | None:
    return score.known_cell(".1f", 100) if name in SHARES else score.known_cell(".2f")

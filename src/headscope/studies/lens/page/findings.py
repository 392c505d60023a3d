"""Findings of `lens`: how early the model's prediction is there, and agreement by layer."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import estimate, several

LENSES = {"plain": "as they are", "mapped": "mapped to those of the last layer"}


def highlights(result: xr.Dataset) -> list[Finding]:
    """Where predictions are settled, what the layer before the last predicts, and agreement."""
    return [*_settling(result), *_predictions(result), *_agreement(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """The numbers of single layers in words, single examples, and limits."""
    return [*_ranks(result), *_examples(result), *_limits(result)]


def lenses(result: xr.Dataset) -> list[str]:
    """The lenses of a result that have values."""
    present = result["final_first"].notnull().any("space")
    return [str(lens) for lens in result["lens"].values if bool(present.sel(lens=lens))]


def _settling(result: xr.Dataset) -> Iterator[Finding]:
    last = int(result["space"][-1])
    parts = []
    for lens in lenses(result):
        layer = estimate(result, "settling_layer", lens=lens)
        before = estimate(result, "settled", lens=lens, space=last - 1)
        parts.append(f"with states {LENSES[lens]} layer {layer.text}, and {before.percent} before the last layer")
    yield Finding(
        "Where predictions are settled",
        f"The mean layer (of {last}) from which on the prediction of a word stays: {'; '.join(parts)}.",
    )


def _predictions(result: xr.Dataset) -> Iterator[Finding]:
    last, n = int(result["space"][-1]), int(result["right_n_examples"])
    parts = []
    for lens in lenses(result):
        shares = [
            f"{f'layer {space}' if space else 'embeddings'} "
            f"{estimate(result, 'final_first', lens=lens, space=space).percent}"
            for space in sorted({0, last // 2, last - 1})
        ]
        parts.append(f"{LENSES[lens]}: {', '.join(shares)}")
    right = estimate(result, "right", lens="plain", space=last)
    yield Finding(
        "Predictions of each layer",
        f"How often a layer predicts what the last one does, of {several(n, 'prediction')}, with its states "
        f"{'; '.join(parts)}. The last layer predicts the right piece in {right.percent}.",
    )


def _agreement(result: xr.Dataset) -> Iterator[Finding]:
    if "agreement" not in result:
        return
    last, lens = int(result["space"][-1]), lenses(result)[-1]
    counts = result["agreement_n_examples"]
    parts = []
    for name in result["condition"].values.tolist():
        where = {"lens": lens, "condition": name}
        middle, end = (estimate(result, "agreement", space=space, **where).percent for space in (last // 2, last))
        parts.append(
            f"{name} ({int(counts.sel(condition=name)):,} items) {middle} in layer {last // 2}, {end} at the end"
        )
    yield Finding(
        f"Items of {result.attrs['suite']} by layer",
        f"Share whose good answer is more probable than the other one (states {LENSES[lens]}): {'; '.join(parts)}.",
    )


def _ranks(result: xr.Dataset) -> Iterator[Finding]:
    last = int(result["space"][-1])
    for lens in lenses(result):
        ranks = [f"{space}: {estimate(result, 'final_rank', lens=lens, space=space).text}" for space in range(last)]
        yield Finding(
            f"Rank of the final prediction, states {LENSES[lens]}",
            f"Geometric mean by layer (0: embeddings): {'; '.join(ranks)}.",
        )


def _examples(result: xr.Dataset) -> Iterator[Finding]:
    examples = json.loads(result.attrs["examples"])
    if examples:
        text = "; ".join(
            f"“{one['before']} ___ {one['after']}” {one['answer']} (layer {one['settled']})" for one in examples
        )
        yield Finding("Right predictions that are settled last", f"{text}.")


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    fitted = int(result.attrs["fitted"])
    of_maps = (
        f" Maps were fitted to {several(fitted, 'prediction')} of other texts, by least squares." if fitted else ""
    )
    left_out = {name: count for name, count in json.loads(result.attrs["suite_left_out"]).items() if count}
    of_suite = "".join(f" Items left out: {count:,} ({name})." for name, count in left_out.items())
    yield Finding(
        "Limits",
        "A head is trained on the states of the last layer. What it does not read from another layer may be there in "
        f"another form: the lens is a lower bound.{of_maps}{of_suite}",
    )


def is_measured(result: xr.Dataset) -> bool:
    """Whether any prediction was read."""
    return bool(np.isfinite(result["final_first"]).any())

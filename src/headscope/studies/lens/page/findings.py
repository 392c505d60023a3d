"""Findings of `lens`: what layers predict beside the most frequent piece and the last layer, and agreement by layer."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.claims import POINT, above, no_worse, paired
from headscope.report.parts import Finding
from headscope.report.wording import estimate, several

HALF = 0.5
LENSES = {"plain": "as they are", "mapped": "mapped to those of the last layer"}


def highlights(result: xr.Dataset) -> list[Finding]:
    """Whether pieces are predicted, from which layer on as well as at the end, where predictions settle, agreement."""
    return [*_right(result), *_settling(result), *_predictions(result), *_agreement(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """The numbers of single layers in words, single examples, and limits."""
    return [*_ranks(result), *_examples(result), *_limits(result)]


def lenses(result: xr.Dataset) -> list[str]:
    """The lenses of a result that have values."""
    present = result["final_first"].notnull().any("space")
    return [str(lens) for lens in result["lens"].values if bool(present.sel(lens=lens))]


def _right(result: xr.Dataset) -> Iterator[Finding]:
    """Whether the last layer predicts better than frequencies do; only then how early layers do as well."""
    if "right_gain" not in result:
        return
    last, frequent = int(result["space"][-1]), estimate(result, "right_most_frequent")
    right = estimate(result, "right", lens="plain", space=last)
    of_last = Finding.judged(
        paired(right, frequent, estimate(result, "right_gain"), int(result["right_n_examples"])),
        f"It is right in {right.percent}, always the most frequent piece of other texts in {frequent.percent}.",
        holds=f"The last layer predicts {right.value:.0%} of the pieces",
        fails="The last layer predicts pieces no better than their frequency does",
        undecided="It cannot be told whether the last layer predicts pieces better than their frequency does",
        unit="predictions",
    )
    yield of_last
    if of_last.verdict == "holds" and last > 0:
        yield _as_good(result, last, lenses(result)[-1])


def _as_good(result: xr.Dataset, last: int, lens: str) -> Finding:
    """The lowest layer that is surely less than a point worse than the last; tested from the top, up to the first no.

    The order is fixed before the numbers are known, so that no correction is needed.
    """
    n, lowest = int(result["right_n_examples"]), last
    changes = [estimate(result, "right_change", lens=lens, space=space) for space in range(last)]
    claims = [no_worse(change, POINT, n) for change in changes]
    while lowest and claims[lowest - 1].verdict == "holds":
        lowest -= 1
    tested = min(lowest, last - 1)
    named = f"layer {tested}" if tested else "the embeddings"
    return Finding.judged(
        claims[tested],
        f"With states {LENSES[lens]}, {named} differs by {changes[tested].points} points in right predictions.",
        holds=f"From {named} on predictions are as good as those of the last layer, but for less than a point",
        fails="The last layer predicts better than the one before it",
        undecided="It cannot be told whether the layer before the last predicts as well",
        unit="predictions",
    )


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
    overall = estimate(result, "agreement", lens=lens, condition="all", space=last)
    items = f"Items of {result.attrs['suite']}"
    yield Finding.judged(
        above(overall, HALF, int(counts.sel(condition="all"))),
        f"Share whose good answer is more probable than the other one (states {LENSES[lens]}): {'; '.join(parts)}.",
        holds=f"{items}: {overall.value:.0%} right in the last layer",
        fails=f"{items}: no better than chance in the last layer",
        undecided=f"{items}: not told from chance in the last layer",
        unit="items",
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

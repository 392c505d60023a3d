"""Findings of `structure`: trees in the hidden states of each layer, beside baselines."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.parts import Finding
from headscope.report.random_weights import beside_random_weights
from headscope.report.wording import estimate
from headscope.studies.structure.page.summary import NAMES, SHARES, best_baseline, chosen, training


def highlights(result: xr.Dataset) -> list[Finding]:
    """The best layer beside the best baseline, random weights, and the last layer."""
    layer = chosen(result)
    uuas, (name, base) = layer.scores["uuas"], best_baseline(result)
    if not np.isfinite(uuas.value):
        return findings(result)
    text = f"A linear map of it gives {uuas.value:.0%} of the edges of the trees; {name}: {base.value:.0%}."
    most = f"Layer {layer.number} holds most of the trees"
    every = [Finding(f"Layer {layer.number} holds less than a baseline" if uuas.value < base.value else most, text)]
    if "uuas_random" in result:
        random, gain = (estimate(result, name, layer=layer.number) for name in ("uuas_random", "uuas_gain"))
        text = f"With random weights of the model it gives {random.value:.0%}."
        every.append(beside_random_weights(uuas, random, text, gain))
    root = layer.scores["root_accuracy"].value
    every.append(Finding(f"{root:.0%} of the roots are found", "The depth probe finds the root of a sentence."))
    last = int(result["layer"].max())
    if last != layer.number:
        end = float(result["uuas"].sel(layer=last))
        held = f"It gives {end:.0%} of the edges, layer {layer.number} {uuas.value:.0%}."
        every.append(Finding("The last layer holds less", held))
    return every


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: the scores of the chosen layer, gains over random weights, the course over layers, limits."""
    return [*_scores(result), *_gains(result), *_course(result), *_limits(result)]


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    layer = chosen(result)
    for name, score in layer.scores.items():
        if np.isfinite(score.value):
            words, base = best_baseline(result, name)
            value, other = (each.percent if name in SHARES else each.text for each in (score, base))
            cases = f"n = {int(result[f'{name}_n_examples']):,} {result[f'{name}_n_examples'].attrs['units']}"
            yield Finding(NAMES[name], f"Layer {layer.number}: {value}. Best baseline ({words}): {other}. {cases}.")


def _gains(result: xr.Dataset) -> Iterator[Finding]:
    if "uuas_gain" in result:
        layer = chosen(result).number
        gain = estimate(result, "uuas_gain", layer=layer)
        yield Finding(
            "Beside random weights",
            f"The share of edges of layer {layer} differs from that of the same layer with random weights by "
            f"{gain.points} points. What random weights give comes from the words and their places, and from the probe "
            "itself.",
        )


def _course(result: xr.Dataset) -> Iterator[Finding]:
    values = ", ".join(f"{100 * value:.0f}%" for value in result["uuas"].values)
    yield Finding("By layer", f"Share of edges from the first layer to the last: {values}.")


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    read, recipe = training(result), json.loads(result.attrs["recipe"])
    ranks = ", ".join(map(str, recipe["ranks"]))
    yield Finding(
        "Limits",
        f"Probes of rank {ranks} were trained on {read['sentences']:,} sentences of {read['corpus']} and scored on "
        f"{int(result.attrs['test_sentences']):,} others. The layer was chosen on held-out training sentences. A tree "
        "that a probe can read is no evidence that the model uses it.",
    )

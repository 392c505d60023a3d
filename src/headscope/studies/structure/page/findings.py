"""Findings of `structure`: trees in the hidden states of each layer, beside baselines."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.claims import Claim, apart, paired, tied, weakest
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import estimate, layers_named
from headscope.studies.structure.page.tables import NAMES, ROLE_SCHEMES, SHARES, best_baseline, chosen, training

FROM_AN_END = ("left_to_right", "right_to_left")


def highlights(result: xr.Dataset) -> list[Finding]:
    """Layers beside the best baseline, roots, random weights, and the last layer."""
    if not np.isfinite(chosen(result).scores["uuas"].value):
        return findings(result)
    trees = _trees(result)
    last = _last(result) if trees.verdict == "holds" else ()
    return [trees, *_roots(result), *_random(result), *last, *_products(result)]


def _trees(result: xr.Dataset) -> Finding:
    """Whether the chosen layer is above the best baseline; the layers that cannot be told from the best are named."""
    layer, (name, base) = chosen(result), best_baseline(result)
    uuas, layers = layer.scores["uuas"], result["layer"].values.tolist()
    best = tied(
        {number: score for number in layers if np.isfinite((score := estimate(result, "uuas", layer=number)).value)}
    )
    some = f"Trees are clearest in {layers_named(best)}"
    alike = "The layers hold trees, none surely more than another"
    share = f"A linear map of layer {layer.number} gives {uuas.value:.0%} of the edges of the trees"
    return Finding.judged(
        _over_baseline(result),
        f"{share}; {name}: {base.value:.0%}.",
        holds=alike if len(layers) > 1 and best == layers else some,
        fails="No more of the trees in a layer than in a baseline",
        undecided="Too few sentences to tell a layer from a baseline",
        unit="edges",
    )


def _over_baseline(result: xr.Dataset) -> Claim:
    return apart(chosen(result).scores["uuas"], best_baseline(result)[1], _cases(result, "uuas"))


def _roots(result: xr.Dataset) -> Iterator[Finding]:
    layer, (name, base) = chosen(result), best_baseline(result, "root_accuracy")
    root = layer.scores["root_accuracy"]
    yield Finding.judged(
        apart(root, base, _cases(result, "root_accuracy")),
        f"The depth probe of layer {layer.number} finds {root.value:.0%} of the roots; {name}: {base.value:.0%}.",
        holds=f"{root.value:.0%} of the roots are found",
        fails="Roots are found no better than by a baseline",
        undecided="Too few sentences to tell whether roots are found",
        unit="sentences",
    )


def _random(result: xr.Dataset) -> Iterator[Finding]:
    if "uuas_random" in result:
        layer = chosen(result)
        uuas, random = layer.scores["uuas"], float(result["uuas_random"].sel(layer=layer.number))
        scores = result["uuas_random_by_seed"].sel(layer=layer.number).values.tolist()
        text = f"Layer {layer.number} gives {uuas.value:.0%} of the edges, with random weights {random:.0%}."
        yield beside_random_seeds("Syntax in hidden states", uuas, scores, _over_baseline(result), text, "edges")


def _last(result: xr.Dataset) -> Iterator[Finding]:
    layer, last = chosen(result), int(result["layer"].max())
    if last != layer.number:
        uuas, end = layer.scores["uuas"], estimate(result, "uuas", layer=last)
        yield Finding.judged(
            apart(uuas, end, _cases(result, "uuas")),
            f"It gives {end.value:.0%} of the edges, layer {layer.number} {uuas.value:.0%}.",
            holds="The last layer holds less",
            fails="The last layer holds no less",
            undecided="It cannot be told whether the last layer holds less",
            unit="edges",
        )


def _products(result: xr.Dataset) -> Iterator[Finding]:
    """Whether the places of the tree leave less error than those of a shuffled tree, and than counts from an end."""
    if "tree_roles_gain" not in result:
        return
    layer, n = chosen(result).number, int(result["tensor_product_error_n_examples"])
    tree, shuffled = (
        estimate(result, "tensor_product_error", role_scheme=scheme, layer=layer)
        for scheme in ("tree", "shuffled_tree")
    )
    others = ", ".join(
        f"{words} {estimate(result, 'tensor_product_error', role_scheme=scheme, layer=layer).value:.0%}"
        for scheme, words in ROLE_SCHEMES.items()
        if scheme not in ("tree", "shuffled_tree")
    )
    simple = [estimate(result, "tensor_product_error", role_scheme=scheme, layer=layer) for scheme in FROM_AN_END]
    over_shuffled = paired(shuffled, tree, estimate(result, "tree_roles_gain", layer=layer), n)
    yield Finding.judged(
        weakest([over_shuffled, *(apart(other, tree, n) for other in simple)]),
        f"Words bound to their places in the tree leave {tree.value:.0%} of the variance of the sentence vectors of "
        f"layer {layer}, places of shuffled trees {shuffled.value:.0%}; {others}.",
        holds="Sentence vectors hold where words stand in the tree",
        fails="Sentence vectors are as well described by shuffled trees or from an end",
        undecided="It cannot be told whether sentence vectors hold where words stand in the tree",
        unit="sentences",
    )


def _cases(result: xr.Dataset, name: str) -> int:
    return int(result[f"{name}_n_examples"])


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: the scores of the chosen layer, gains over random weights, the course over layers, limits."""
    return [*_scores(result), *_gains(result), *_course(result), *_limits(result)]


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    layer = chosen(result)
    for name, score in layer.scores.items():
        if np.isfinite(score.value):
            words, base = best_baseline(result, name)
            value, other = (estimated.percent if name in SHARES else estimated.text for estimated in (score, base))
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

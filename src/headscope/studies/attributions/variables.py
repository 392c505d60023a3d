"""The variables of a result, from the tallies of all inputs and the faithfulness of the scored ones."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Count, Variable, Variables, label
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.statistics.split_half import split_in_half
from headscope.studies.attributions.explaining_pass import Explained
from headscope.studies.attributions.faithfulness import SHARES, Faithfulness, comprehensiveness, sufficiency
from headscope.studies.attributions.methods import METHODS

SOURCE = "DeYoung et al. 2020, section 4; Abnar and Zuidema 2020, section 4"
KOBAYASHI = "Kobayashi et al. 2020, section 2"
ENDS = (0.0, *SHARES, 1.0)
COORDS = {"attribution": METHODS, "token_class": TOKEN_CLASSES, "token_share": ENDS}
OF_HEADS = {
    name: Variable(name, words, f"share of {unit}", KOBAYASHI, {"token_class": TOKEN_CLASSES})
    for name, words, unit in (
        ("attention_to", "attention to each class of token", "attention"),
        ("norm_to", "share of the lengths of what a head moves, |a f(x)|, that comes from each class of token", "norm"),
    )
}
UNITS = "difference of the target"


def to_variables(explained: Explained, heads: tuple[int, ...], seed: int, resamples: int) -> dict[str, xr.DataArray]:
    """The variables; those of faithfulness only where inputs were scored."""
    variables = Variables(COORDS, SOURCE)
    if explained.rows:
        rows = Faithfulness.concatenate(explained.rows)
        rows = rows[np.argsort(rows.index)]
        draws = poisson_draws(rows.index.tolist(), seed, resamples)
        _add_scores(variables, rows, draws)
        _add_curves(variables, rows, draws)
        _add_best_layers(variables, rows, draws, seed)
    _add_shares(variables, explained.tallies["importance_share"])
    for name, variable in OF_HEADS.items():
        variables.arrays.update(label(variable, explained.tallies[name], heads))
    return variables.arrays


def _add_scores(variables: Variables, rows: Faithfulness, draws: np.ndarray) -> None:
    whole = rows.whole[:, None]
    by_random = {"comprehensiveness": whole - rows.random_deletion, "sufficiency": whole - rows.random_insertion}
    words = {
        "comprehensiveness": "fall of the target without the most important tokens, averaged over shares of tokens",
        "sufficiency": "fall of the target with the most important tokens alone, averaged over shares of tokens",
    }
    for name, values in (("comprehensiveness", comprehensiveness(rows)), ("sufficiency", sufficiency(rows))):
        random = by_random[name].mean(-1)
        sign = 1 if name == "comprehensiveness" else -1
        gain = sign * (values - random[:, None, None])
        _add(variables, name, values, draws, ("attribution", "layer"), words[name], UNITS)
        _add(variables, f"{name}_random", random, draws, (), f"{words[name]}, in random order", UNITS)
        better = "more" if sign > 0 else "less"
        gained = f"{words[name]}, {better} than in random order"
        _add(variables, f"{name}_gain", gain, draws, ("attribution", "layer"), gained, UNITS)
    long_name = "rank correlation of importance with blank-out, over the tokens of an input"
    _add(
        variables,
        "rank_correlation",
        rows.correlation,
        draws,
        ("attribution", "layer"),
        long_name,
        "Spearman correlation",
    )


def _add_curves(variables: Variables, rows: Faithfulness, draws: np.ndarray) -> None:
    for name, first, last, words in (
        ("deletion", rows.whole, rows.nothing, "without the most important share of tokens"),
        ("insertion", rows.nothing, rows.whole, "with the most important share of tokens alone"),
    ):
        curve: Float[np.ndarray, "input method layer share"] = getattr(rows, name)
        missing = np.isnan(curve[..., 0])
        ends = [np.where(missing, np.nan, end[:, None, None]) for end in (first, last)]
        values = np.concatenate([ends[0][..., None], curve, ends[1][..., None]], axis=-1)
        dims = ("attribution", "layer", "token_share")
        _add(variables, name, values, draws, dims, f"target {words}", "target")
        random: Float[np.ndarray, "input share"] = getattr(rows, f"random_{name}")
        values = np.concatenate([first[:, None], random, last[:, None]], axis=-1)
        _add(variables, f"{name}_random", values, draws, ("token_share",), f"target {words}, in random order", "target")


def _add_best_layers(variables: Variables, rows: Faithfulness, draws: np.ndarray, seed: int) -> None:
    """The layer of each method that is best on one half of the inputs, and its scores on the other half."""
    selecting = split_in_half(len(rows), seed)
    if not (selecting.any() and (~selecting).any()):
        return
    values = comprehensiveness(rows)
    means = np.nan_to_num(_means(values[selecting]), nan=-np.inf)
    best = means.argmax(1)  # [method]
    long_name = "layer of the largest comprehensiveness on one half of the scored inputs"
    variables.add("best_layer", best + 1, ("attribution",), long_name=long_name, units="layer")
    random_deletion = (rows.whole[:, None] - rows.random_deletion).mean(-1)
    random_insertion = (rows.whole[:, None] - rows.random_insertion).mean(-1)
    for name, scores, words, units in (
        ("chosen_comprehensiveness", values, "comprehensiveness", UNITS),
        ("chosen_comprehensiveness_gain", values - random_deletion[:, None, None],
         "comprehensiveness, more than in random order,", UNITS),
        ("chosen_sufficiency", sufficiency(rows), "sufficiency", UNITS),
        ("chosen_sufficiency_gain", random_insertion[:, None, None] - sufficiency(rows),
         "sufficiency, less than in random order,", UNITS),
        ("chosen_rank_correlation", rows.correlation, "rank correlation with blank-out", "Spearman correlation"),
    ):  # fmt: skip
        held_out = np.take_along_axis(scores, best[None, :, None], axis=2)[~selecting, :, 0]
        words = f"{words} of the layer chosen on one half of the scored inputs, on the other half"
        _add(variables, name, held_out, draws[:, ~selecting], ("attribution",), words, units)


def _add_shares(variables: Variables, shares: Tally) -> None:
    dims = ("attribution", "layer", "token_class")
    # The tally has one row in the place of heads.
    variables.add(
        "importance_share",
        shares.mean[0],
        dims,
        long_name="share of the size of importance that tokens of each class have",
        units="share of importance",
        interval=shares.interval[0],
        count=Count(
            shares.count,
            "examples with importance of each class of token",
            dims=("attribution", "layer", "token_class"),
        ),
        source=KOBAYASHI,
    )


def _add(
    variables: Variables,
    name: str,
    values: Float[np.ndarray, "input *dims"],
    draws: Float[np.ndarray, "resample input"],
    dims: Sequence[str],
    long_name: str,
    units: str,
) -> None:
    """Add the mean over inputs of a score, with its interval; NaN is no value."""
    score = tally(values[:, None], np.isfinite(values), draws)
    count = Count(score.count, f"inputs with {long_name}", "inputs", dims)
    variables.add(name, score.mean[0], dims, long_name=long_name, units=units, interval=score.interval[0], count=count)


def _means(values: Float[np.ndarray, "input *dims"]) -> Float[np.ndarray, "*dims"]:
    count = np.isfinite(values).sum(0)
    return np.divide(np.nansum(values, axis=0), count, out=np.full(values.shape[1:], np.nan), where=count > 0)


def shown_inputs(explained: Explained, number: int) -> list[Mapping[str, object]]:
    """A few scored inputs of median length: tokens, and the importance of each by method and layer, its largest 1."""
    if not explained.shown:
        return []
    lengths = np.array([len(each.tokens) for each in explained.shown])
    order = np.lexsort(([each.index for each in explained.shown], abs(lengths - np.median(lengths))))[:number]
    return [
        {"tokens": each.tokens, "importance": _as_lists(each.importance)}
        for each in sorted((explained.shown[place] for place in order), key=lambda each: each.index)
    ]


def _as_lists(importance: Float[np.ndarray, "method layer token"]) -> dict[str, list[list[float]]]:
    largest = np.abs(importance).max(-1, keepdims=True)
    scaled = np.divide(importance, largest, out=np.zeros_like(importance), where=largest > 0)
    taken = [bool(np.isfinite(each).all()) for each in importance]
    return {name: each.round(3).tolist() for name, each, there in zip(METHODS, scaled, taken, strict=True) if there}

"""The variables of a result, from the tallies of all inputs and the faithfulness of the scored ones."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Count, Variables
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.statistics.split_half import split_in_half
from headscope.studies.words.attributions import STUDY
from headscope.studies.words.attributions.altered_attention import LARGEST, RANDOM
from headscope.studies.words.attributions.altered_inputs import ALTERATIONS, AlteredInputs
from headscope.studies.words.attributions.explaining_pass import Explained
from headscope.studies.words.attributions.faithfulness import SHARES, Faithfulness, comprehensiveness, sufficiency
from headscope.studies.words.attributions.methods import METHODS

ENDS = (0.0, *SHARES, 1.0)
COORDS = {
    "attribution": METHODS,
    "token_class": TOKEN_CLASSES,
    "token_share": ENDS,
    "alteration": ALTERATIONS,
    "erased_share": tuple(LARGEST.values()),
}
OF_HEADS = ("attention_to", "norm_to", "effective_share", "effective_correlation")


def to_variables(explained: Explained, heads: tuple[int, ...], seed: int, resamples: int) -> dict[str, xr.DataArray]:
    """The variables; those of faithfulness only where inputs were scored."""
    variables = Variables(COORDS, STUDY.source, STUDY.labels)
    if explained.rows:
        rows = Faithfulness.concatenate(explained.rows)
        rows = rows[np.argsort(rows.index)]
        draws = poisson_draws(rows.unit, seed, resamples)
        _add_scores(variables, rows, draws)
        _add_curves(variables, rows, draws)
        _add_best_layers(variables, rows, draws, seed)
    if explained.altered:
        altered = AlteredInputs.concatenate(explained.altered)
        altered = altered[np.argsort(altered.index)]
        draws = poisson_draws(altered.unit, seed, resamples)
        for name, values in _of_altered(altered).items():
            if np.isfinite(values).any():  # numbers and representations have no decision
                _add(variables, name, values, draws)
    shares = explained.tallies["importance_share"]
    classes = Count(
        shares.count, "examples with importance of each class of token", dims=variables.labels["importance_share"].dims
    )
    # Tallies have one row in the place of heads.
    variables.add("importance_share", shares.mean[0], interval=shares.interval[0], count=classes)
    errors = explained.tallies["completeness_error"]
    if errors.count.any():
        variables.add("completeness_error", errors.mean[0], interval=errors.interval[0])
    for name in OF_HEADS:
        variables.add_tally(name, explained.tallies[name], heads)
    return variables.arrays


def _of_altered(rows: AlteredInputs) -> dict[str, np.ndarray]:
    """The variables of altered attention for each input: [input, *dims]."""
    largest, random = ([ALTERATIONS.index(name) for name in names] for names in (LARGEST, RANDOM))
    permuted = rows.distance[:, ALTERATIONS.index("permuted")]
    distance = np.nanmean(rows.distance, axis=(-1, -2))
    return {
        "altered_output": rows.change[..., 0],
        "altered_decision": rows.flip[..., 0],
        "altered_distance": distance,
        "layer_altered_output": rows.change[..., 1:],
        "layer_altered_decision": rows.flip[..., 1:],
        "erased_lead": rows.change[:, largest, 0] - rows.change[:, random, 0],
        "erased_decision_lead": rows.flip[:, largest, 0] - rows.flip[:, random, 0],
        "other_lead": distance[:, -1] - distance[:, ALTERATIONS.index("permuted")],
        "head_other_distance": rows.head_distance,
        "head_other_change": rows.head_change,
        "head_other_lead": rows.head_distance - permuted,
    }


def _add_scores(variables: Variables, rows: Faithfulness, draws: np.ndarray) -> None:
    for name, (values, random, gain) in _scores(rows).items():
        _add(variables, name, values, draws)
        _add(variables, f"{name}_random", random, draws)
        _add(variables, f"{name}_gain", gain, draws)
    _add(variables, "rank_correlation", rows.correlation, draws)


def _scores(rows: Faithfulness) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Comprehensiveness and sufficiency: of each method and layer, of random orders, and by how much it is better."""
    random = [(rows.full[:, None] - curve).mean(-1) for curve in (rows.random_deletion, rows.random_insertion)]
    high, low = comprehensiveness(rows), sufficiency(rows)
    return {
        "comprehensiveness": (high, random[0], high - random[0][:, None, None]),
        "sufficiency": (low, random[1], random[1][:, None, None] - low),
    }


def _add_curves(variables: Variables, rows: Faithfulness, draws: np.ndarray) -> None:
    for name, first, last in (("deletion", rows.full, rows.nothing), ("insertion", rows.nothing, rows.full)):
        curve: Float[np.ndarray, "input method layer share"] = getattr(rows, name)
        missing = np.isnan(curve[..., 0])
        ends = [np.where(missing, np.nan, end[:, None, None])[..., None] for end in (first, last)]
        _add(variables, name, np.concatenate([ends[0], curve, ends[1]], axis=-1), draws)
        random: Float[np.ndarray, "input share"] = getattr(rows, f"random_{name}")
        _add(variables, f"{name}_random", np.concatenate([first[:, None], random, last[:, None]], axis=-1), draws)


def _add_best_layers(variables: Variables, rows: Faithfulness, draws: np.ndarray, seed: int) -> None:
    """The layer of each method that is best on one half of the inputs, and its scores on the other half."""
    selecting = split_in_half(rows.unit, seed)
    if not (selecting.any() and (~selecting).any()):
        return
    means = np.nan_to_num(_means(comprehensiveness(rows)[selecting]), nan=-np.inf)
    best = means.argmax(1)  # [method]
    variables.add("best_layer", best + 1)
    scores = {"rank_correlation": rows.correlation}
    for name, (values, _random, gain) in _scores(rows).items():
        scores |= {name: values, f"{name}_gain": gain}
    chosen = {name: np.take_along_axis(values, best[None, :, None], axis=2)[..., 0] for name, values in scores.items()}
    for name, values in chosen.items():
        _add(variables, f"chosen_{name}", values[~selecting], draws[:, ~selecting])
    # Methods of fewer inputs, such as flow, do not lead: the others were compared on all of them.
    number = np.isfinite(rows.deletion[selecting]).all((-1, -2)).sum(0)
    top = int(np.where(number == number.max(), means.max(1), -np.inf).argmax())
    lead = chosen["comprehensiveness"][:, [top]] - chosen["comprehensiveness"]
    lead[:, top] = np.nan
    _add(variables, "best_method_lead", lead[~selecting], draws[:, ~selecting])


def _add(
    variables: Variables,
    name: str,
    values: Float[np.ndarray, "input *dims"],
    draws: Float[np.ndarray, "resample input"],
) -> None:
    """Add the mean over inputs of a score, with its interval; NaN is no value."""
    score, words = tally(values[:, None], np.isfinite(values), draws), variables.labels[name]
    count = Count(score.count, f"inputs with {words.what}", "inputs", words.dims)
    variables.add(name, score.mean[0], interval=score.interval[0], count=count)


def _means(values: Float[np.ndarray, "input *dims"]) -> Float[np.ndarray, "*dims"]:
    count = np.isfinite(values).sum(0)
    return np.divide(np.nansum(values, axis=0), count, out=np.full(values.shape[1:], np.nan), where=count > 0)


def shown_inputs(explained: Explained, number: int) -> list[Mapping[str, object]]:
    """A few scored inputs of median length: tokens, and the importance of each by method and layer, its largest 1."""
    if not explained.shown:
        return []
    lengths = np.array([len(example.tokens) for example in explained.shown])
    order = np.lexsort(([example.index for example in explained.shown], abs(lengths - np.median(lengths))))[:number]
    return [
        {"tokens": example.tokens, "importance": _as_lists(example.importance)}
        for example in sorted((explained.shown[index] for index in order), key=lambda example: example.index)
    ]


def _as_lists(importance: Float[np.ndarray, "method layer token"]) -> dict[str, list[list[float]]]:
    largest = np.abs(importance).max(-1, keepdims=True)
    scaled = np.divide(importance, largest, out=np.zeros_like(importance), where=largest > 0)
    taken = [bool(np.isfinite(rows).all()) for rows in importance]
    return {name: rows.round(3).tolist() for name, rows, there in zip(METHODS, scaled, taken, strict=True) if there}

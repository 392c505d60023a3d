"""The results of the seeds of one fine-tuning as one result: how far they agree on heads (Prasanna et al. 2020)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.stats import hypergeom, rankdata

from headscope import results
from headscope.errors import HeadscopeError
from headscope.results.variables import Variables
from headscope.statistics.rank_correlation import agreements, jackknife, mean_agreement
from headscope.statistics.runs import over_seeds
from headscope.study import Number, Study

SEEDS = "seeds"
AGREEMENT = "rank correlation over heads between two seeds"
KEPT, NONE = "heads that stay in the pruned models of all seeds", "heads that stay in the pruned model of no seed"
RANDOM = "expected if each seed kept as many heads at random"
STUDY = Study(
    source="Prasanna et al. 2020",
    required=("seed_agreement",),
    numbers=(
        Number(
            *("seed_agreement", f"{AGREEMENT}, mean over pairs of seeds", "Spearman's correlation", ("head_number",)),
            definition=f"{AGREEMENT}, mean over pairs of seeds; interval by leaving out one seed after the other",
        ),
        Number("pair_agreement", AGREEMENT, "Spearman's correlation", ("head_number", "seed", "other_seed")),
        Number(
            *("head_place", "place of a head among all heads of a seed", "place, from 1"),
            *(("head_number", "seed", "layer", "head"), None),
            "place of a head among all heads of a seed, the most important (the broadest, of entropy) first; heads "
            "that pruning left share the first places",
        ),
        Number("kept_seeds", "seeds in whose pruned model a head stays", "seeds", ("layer", "head")),
        Number("always_kept", f"number of {KEPT}", "heads"),
        Number("always_kept_chance", f"number of {KEPT}, {RANDOM}", "heads"),
        Number("always_kept_p_value", f"p-value of as many {KEPT}, if each kept as many at random", "probability"),
        Number("never_kept", f"number of {NONE}", "heads"),
        Number("never_kept_chance", f"number of {NONE}, {RANDOM}", "heads"),
        Number("never_kept_p_value", f"p-value of as many {NONE}, if each kept as many at random", "probability"),
        Number(
            *("seed_score", "score of a part of the model, mean over seeds", "score", ("subnetwork", "metric")),
            definition="`subnetwork_score` of the prunings, mean over seeds; interval over seeds (t)",
        ),
    ),
)
# Numbers of heads that rank them: what seeds are compared by.
RANKED = ("importance", "importance_normalised", "head_gain", "removed_at", "entropy")
# Heads come first by them that have the smallest.
SMALL_FIRST = ("head_gain",)


def join_seeds(measured: Iterable[xr.Dataset]) -> xr.Dataset:
    """How far the models of several seeds agree on which heads matter, as one result (Prasanna et al. 2020).

    `seed_agreement[head_number]` is the mean over pairs of seeds of the rank correlation over heads, with its interval
    over seeds, of each number that ranks heads: importance and loss of score of `ablate`, order of removal of `prune`,
    entropy of `profile`. Of prunings it also says which heads stay in all seeds, in none, and in how many.

    * `measured`: results of `ablate`, `prune` or `profile` of models that differ in their seed, on the same examples.

    Raises `HeadscopeError` for results of one model, of several tasks or texts, with other heads, and where a seed
    lacks a result that the others have.

    >>> import headscope
    >>> profiles = [headscope.profile("minilm", ["The dog barked.", "It rained."], resamples=10) for _ in range(2)]
    >>> profiles[1].attrs["model_sha256"] = "that of another seed"
    >>> headscope.join_seeds(profiles)["seed_agreement"].dims
    ('head_number',)
    """
    studies = _by_study(measured)
    models = list(next(iter(studies.values())))
    ranked = {name: array for runs in studies.values() for name, array in _ranked([*runs.values()])}
    if not ranked:
        raise HeadscopeError(f"no number ranks heads in {', '.join(studies)}; join results of ablate, prune or profile")
    there = next(iter(ranked.values())).notnull().any("seed").stack(place=("layer", "head"))
    values = np.stack([_places(array, there) for array in ranked.values()])
    matrices = np.stack([agreements(places) for places in values])
    seeds = list(range(1, len(models) + 1))
    axes = {dim: sorted(set(there[dim].values.tolist())) for dim in ("layer", "head")}
    variables = Variables(
        {"head_number": list(ranked), "seed": seeds, "other_seed": seeds, **axes}, STUDY.source, STUDY.labels,
        cases="seeds with", resampled=f"{len(seeds)} seeds",
    )  # fmt: skip
    bounds = [jackknife(matrix) for matrix in matrices]
    variables.add("seed_agreement", list(map(mean_agreement, matrices)), interval=bounds)
    variables.add("pair_agreement", matrices)
    grid = np.full((*values.shape[:2], there.size), np.nan)
    grid[..., there.values] = values
    variables.add("head_place", grid.reshape(*values.shape[:2], *map(len, axes.values())))
    first = [runs[models[0]] for runs in studies.values()]
    if prunings := [*studies.get("prune", {}).values()]:
        _add_survivors(variables, prunings)
    joined = xr.Dataset(variables.arrays, attrs=_attributes(studies, first))
    if all("subnetwork_score" in result for result in prunings) and prunings:
        joined = joined.merge(_scores(prunings), combine_attrs="override")
    return results.check(joined)


def _by_study(measured: Iterable[xr.Dataset]) -> dict[str, dict[str, xr.Dataset]]:
    """The results by study and model, in their order; each study has all models, else as `join_seeds` raises."""
    studies: dict[str, dict[str, xr.Dataset]] = {}
    for result in measured:
        name, model = str(result.attrs["study"]), str(result.attrs["model_sha256"] or result.attrs["model"])
        first = next(iter(studies.setdefault(name, {}).values()), result)
        if any(first.attrs.get(text, "") != result.attrs.get(text, "") for text in ("task", "corpus_sha256")):
            texts = " and ".join(f"'{run.attrs.get('task', run.attrs['corpus'])}'" for run in (first, result))
            raise HeadscopeError(f"{name}: seeds are compared on the same examples, not on {texts}; join those of one")
        if any(first.sizes.get(dim) != result.sizes.get(dim) for dim in ("layer", "head")):
            raise HeadscopeError(f"{name}: '{result.attrs['model']}' has other heads than '{first.attrs['model']}'")
        studies[name].setdefault(model, result)
    models = {model: str(result.attrs["model"]) for runs in studies.values() for model, result in runs.items()}
    if len(models) < 2:
        raise HeadscopeError("all results are of one model; name those of two seeds or more")
    for name, runs in studies.items():
        if lacking := [models[model] for model in models if model not in runs]:
            raise HeadscopeError(f"{name}: no result of '{lacking[0]}'; run {name} on it too, or leave its results out")
    return {name: {model: runs[model] for model in models} for name, runs in studies.items()}


def _ranked(runs: Sequence[xr.Dataset]) -> Iterator[tuple[str, xr.DataArray]]:
    """The numbers that rank heads [seed, layer, head] by their names, which all seeds have; higher comes first."""
    for name in RANKED:
        if all(name in result for result in runs):
            arrays = [_comparable(result, name) for result in runs]
            array = xr.concat(arrays, "seed", join="inner", combine_attrs="drop")
            array = -array if name in SMALL_FIRST else array
            rest = [str(dim) for dim in array.dims if dim not in ("seed", "layer", "head")]
            if not rest:
                yield name, array
            for label in array[rest[0]].values.tolist() if rest else []:
                yield f"{name}_{label}", array.sel({rest[0]: label}, drop=True)


def _comparable(result: xr.Dataset, name: str) -> xr.DataArray:
    """A number of heads; heads that pruning left were removed after all others."""
    array = result[name].reset_coords(drop=True)
    return array.where(~_kept(result), array.count() + 1) if name == "removed_at" else array


def _kept(pruned: xr.Dataset) -> xr.DataArray:
    """Whether a head of the model stays when it is pruned [layer, head]."""
    return _there(pruned) & pruned["removed_at"].isnull()


def _there(pruned: xr.Dataset) -> xr.DataArray:
    """Which heads [layer, head] the model had before it was pruned."""
    return (pruned["head"] <= pruned["heads_left"].isel(share_removed=0, drop=True)).transpose("layer", "head")


def _places(array: xr.DataArray, there: xr.DataArray) -> Float[np.ndarray, "seed head"]:
    """The places of the heads that are there, from 1 for the highest value; NaN in a seed that lacks a value."""
    stacked = array.stack(place=("layer", "head")).transpose("seed", "place").values[:, there.values]
    return rankdata(-stacked, axis=-1, nan_policy="propagate")


def _add_survivors(variables: Variables, prunings: Sequence[xr.Dataset]) -> None:
    """Add in how many seeds each head stays, and how many heads stay in all and in none, beside chance."""
    kept = xr.concat([_kept(result) for result in prunings], "seed")
    there = _there(prunings[0])
    heads, seeds = int(there.sum()), kept.sum("seed").where(there)
    variables.add("kept_seeds", seeds.values)
    sizes = kept.sum(("layer", "head")).values.tolist()
    for name, number, runs in (
        ("always_kept", int((seeds == len(prunings)).sum()), sizes),
        ("never_kept", int((seeds == 0).sum()), [heads - size for size in sizes]),
    ):
        chance = common_at_random(runs, heads)
        variables.add(name, number)
        variables.add(f"{name}_chance", float(chance @ np.arange(heads + 1)))
        variables.add(f"{name}_p_value", min(1.0, float(chance[number:].sum())))


def common_at_random(sizes: Sequence[int], heads: int) -> Float[np.ndarray, " number"]:
    """The probability of each number of heads that random sets of these sizes have in common.

    >>> common_at_random([1, 1], 4).tolist()
    [0.75, 0.25, 0.0, 0.0, 0.0]
    """
    numbers = np.arange(heads + 1)
    chance = (numbers == sizes[0]).astype(float)
    for size in sizes[1:]:
        chance = hypergeom.pmf(numbers[:, None], heads, numbers, size) @ chance
    return chance


def _scores(prunings: Sequence[xr.Dataset]) -> dict[str, xr.DataArray]:
    """The scores of the parts of the models, as means over seeds."""
    scores = xr.concat([result["subnetwork_score"].reset_coords(drop=True) for result in prunings], "seed")
    scores = scores.transpose("seed", "subnetwork", "metric")
    labels = {dim: scores[dim].values.tolist() for dim in ("subnetwork", "metric")}
    variables = Variables(labels, STUDY.source, STUDY.labels, resampled=f"{len(prunings)} seeds")
    variables.add("seed_score", scores.values.mean(0), interval=over_seeds(scores.values, least=2))
    return variables.arrays


def _attributes(studies: Mapping[str, Mapping[str, xr.Dataset]], first: Sequence[xr.Dataset]) -> dict[str, Any]:
    """The attributes of the joined result: the models of all seeds, and the examples of the first study."""
    runs = next(iter(studies.values()))
    names = [str(result.attrs["model"]) for result in runs.values()]
    same = ("corpus", "corpus_sha256", "n_examples", "n_tokens", "task", "headscope_version", "model_type")
    return {
        "study": SEEDS,
        "model": f"{len(names)} models: {', '.join(Path(name).name for name in names)}",
        "model_sha256": sha256("".join(runs).encode()).hexdigest(),
        "models": json.dumps(names),
        "studies": ", ".join(studies),
        **{name: first[0].attrs[name] for name in same if name in first[0].attrs},
    }

"""Results of several seeds as one: how far they agree on heads, which heads stay in all prunings, and the page."""

from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope import HeadscopeError, join_seeds, results
from headscope.report.joined_seeds import common_at_random
from headscope.report.study_page import study_page
from headscope.results.vocabulary import attribute_kinds
from support.cli import run_command

LAYERS, HEADS = 3, 8
WORDS = {"long_name": "a number", "units": "1", "source": "made up"}


def planted(study: str, seed: int, arrays: dict[str, xr.DataArray], **attributes: str) -> xr.Dataset:
    """A result of a study of one seed's model with these numbers."""
    made = dict.fromkeys(results.ATTRIBUTES, "") | {
        name: 1 for name, kind in attribute_kinds().items() if kind == "number"
    }
    made |= {"study": study, "model": f"seed-{seed}", "model_sha256": f"{seed}" * 64, "corpus": "dev", "task": "MRPC"}
    return xr.Dataset({name: array.assign_attrs(WORDS) for name, array in arrays.items()}, attrs=made | attributes)


def ablated(seed: int, values: np.ndarray, **attributes: str) -> xr.Dataset:
    """An ablation with this importance of [layer, head], whose losses of accuracy have the opposite order."""
    axes = {"layer": range(1, LAYERS + 1), "head": range(1, HEADS + 1)}
    importance = xr.DataArray(values[..., None], axes | {"estimator": ["michel"]})
    gain = xr.DataArray(values[..., None], axes | {"metric": ["accuracy"]})
    score = {"head_score": gain + 0.5, "baseline": xr.DataArray([0.5], {"metric": ["accuracy"]})}
    return planted("ablate", seed, {"importance": importance, "head_gain": gain} | score, **attributes)


def pruned(seed: int, order: list[tuple[int, int]], scores: dict[str, float] | None = None) -> xr.Dataset:
    """A pruning that removed these heads, from 0, in this order."""
    axes = {"layer": range(1, LAYERS + 1), "head": range(1, HEADS + 1)}
    places = np.full((LAYERS, HEADS), np.nan)
    for number, head in enumerate(order, 1):
        places[head] = number
    left = np.stack([np.full(LAYERS, HEADS), np.isnan(places).sum(1)])
    shares = {"share_removed": [0.0, len(order) / (LAYERS * HEADS)]}
    arrays = {
        "removed_at": xr.DataArray(places, axes),
        "heads_left": xr.DataArray(left, shares | {"layer": axes["layer"]}),
        "pruned_score": xr.DataArray(np.full((2, 1), 0.5), shares | {"metric": ["accuracy"]}),
    }
    if scores:
        labels = {"subnetwork": [*scores], "metric": ["accuracy"]}
        arrays["subnetwork_score"] = xr.DataArray(np.array([*scores.values()])[:, None], labels)
    return planted("prune", seed, arrays)


def naive_spearman(one: np.ndarray, other: np.ndarray) -> float:
    """Of values without ties, by the sum of squared differences of places."""
    squares = 0
    for first, second in zip(one, other, strict=True):
        places = sum(value > first for value in one), sum(value > second for value in other)
        squares += (places[0] - places[1]) ** 2
    return 1 - 6 * squares / (len(one) * (len(one) ** 2 - 1))


def test_the_agreement_is_that_of_a_loop_over_pairs_and_its_interval_leaves_out_seeds() -> None:
    rng = np.random.default_rng(2)
    values = rng.random((4, LAYERS, HEADS)) + np.linspace(0, 1, HEADS)
    joined = join_seeds([ablated(seed, of_seed) for seed, of_seed in enumerate(values)])
    naive = {pair: naive_spearman(*(values[seed].ravel() for seed in pair)) for pair in combinations(range(4), 2)}
    mean = sum(naive.values()) / len(naive)
    for name in ("importance_michel", "head_gain_accuracy"):
        assert float(joined["seed_agreement"].sel(head_number=name)) == pytest.approx(mean)
        for (one, other), value in naive.items():
            pair = joined["pair_agreement"].sel(head_number=name, seed=one + 1, other_seed=other + 1)
            assert float(pair) == pytest.approx(value)
    without = [np.mean([value for pair, value in naive.items() if seed not in pair]) for seed in range(4)]
    error = np.sqrt(3 / 4 * sum((one - np.mean(without)) ** 2 for one in without))
    lower, upper = joined["seed_agreement_ci"].sel(head_number="importance_michel").values
    assert (lower, upper) == pytest.approx((mean - 3.1824463 * error, mean + 3.1824463 * error))
    ranks = joined["head_place"].sel(head_number="importance_michel", seed=2)
    assert ranks.values.ravel().argmin() == values[1].argmax() and float(ranks.max()) == LAYERS * HEADS
    by_loss = joined["head_place"].sel(head_number="head_gain_accuracy", seed=2)
    assert by_loss.values.ravel().argmin() == values[1].argmin()  # the lowest gain is the largest loss


def test_planted_masks_say_which_heads_stay_in_all_seeds_and_in_none() -> None:
    all_heads = list(product(range(LAYERS), range(HEADS)))
    always, never = set(all_heads[:3]), all_heads[-4:]
    rest = [head for head in all_heads if head not in always and head not in never]
    removed = [[*never, *rest[number::3]] for number in range(3)]  # each of the rest goes in one of three seeds
    joined = join_seeds([pruned(seed, order) for seed, order in enumerate(removed)])
    assert int(joined["always_kept"]) == 3 and int(joined["never_kept"]) == 4
    for layer, head in all_heads:
        expected = sum((layer, head) not in order for order in removed)
        assert int(joined["kept_seeds"].sel(layer=layer + 1, head=head + 1)) == expected
    total = LAYERS * HEADS
    shares = [1 - len(order) / total for order in removed]
    assert float(joined["always_kept_chance"]) == pytest.approx(total * np.prod(shares))
    assert float(joined["never_kept_chance"]) == pytest.approx(total * np.prod([1 - share for share in shares]))
    assert float(joined["never_kept_p_value"]) < 0.05 < float(joined["always_kept_p_value"])
    places = joined["head_place"].sel(head_number="removed_at", seed=1)
    assert float(places.sel(layer=1, head=1)) == (1 + total - len(removed[0])) / 2  # heads that stay share places
    assert float(places.sel(layer=LAYERS, head=HEADS - 3)) == total  # removed first


def test_the_chance_of_common_heads_is_that_of_all_choices() -> None:
    choices = [list(combinations(range(5), size)) for size in (2, 3, 3)]
    counts = np.zeros(6)
    for chosen in product(*choices):
        counts[len(set.intersection(*map(set, chosen)))] += 1
    np.testing.assert_allclose(common_at_random([2, 3, 3], 5), counts / (comb(5, 2) * comb(5, 3) ** 2), atol=1e-12)


def test_random_importance_is_no_agreement_and_random_masks_no_common_heads() -> None:
    claimed = common = 0
    for trial in range(40):
        rng = np.random.default_rng(trial)
        orders = [[divmod(int(at), HEADS) for at in rng.permutation(LAYERS * HEADS)[:12]] for _ in range(4)]
        runs = [ablated(seed, rng.random((LAYERS, HEADS))) for seed in range(4)]
        joined = join_seeds([*runs, *(pruned(seed, order) for seed, order in enumerate(orders))])
        findings = [*study_page(joined).highlights(), *study_page(joined).findings()]
        claimed += any(finding.verdict == "holds" for finding in findings)
        common += any(finding.text.startswith("More than by chance") for finding in findings)
    assert claimed <= 4 and common <= 6


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (lambda one, other: [one, one], "all results are of one model"),
        (lambda one, other: [one, other.assign_attrs(task="RTE")], "not on 'MRPC' and 'RTE'"),
        (lambda one, other: [one, other.assign_attrs(corpus_sha256="x")], "on the same examples"),
        (lambda one, other: [one, other.isel(head=slice(2))], "has other heads than"),
        (lambda one, other: [one, other, pruned(0, [(0, 0)])], "prune: no result of 'seed-1'"),
        (
            lambda one, other: [run.drop_vars(["importance", "head_gain"]) for run in (one, other)],
            "no number ranks heads",
        ),
    ],
)
def test_results_that_cannot_be_joined_are_refused(found, message: str) -> None:
    one, other = (ablated(seed, np.random.default_rng(seed).random((LAYERS, HEADS))) for seed in range(2))
    with pytest.raises(HeadscopeError, match=message):
        join_seeds(found(one, other))


def test_the_command_joins_seeds_and_its_page_has_the_published_figures(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for seed in range(3):
        order = [divmod(int(at), HEADS) for at in rng.permutation(LAYERS * HEADS)[:12]]
        results.save(ablated(seed, rng.random((LAYERS, HEADS))), tmp_path / f"ablated-{seed}")
        scores = {"all": 0.8, "good": 0.7 + seed / 100, "bad": 0.4, "random": 0.6}
        results.save(pruned(seed, order, scores), tmp_path / f"pruned-{seed}")
    ended = run_command("join", tmp_path, "-o", tmp_path / "joined", "--no-figures")
    assert ended.exit_code == 0, ended.output
    joined = results.read(tmp_path / "joined")
    assert float(joined["seed_score"].sel(subnetwork="good", metric="accuracy")) == pytest.approx(0.71)
    half = 4.30265273 * 0.01 / np.sqrt(3)
    bounds = joined["seed_score_ci"].sel(subnetwork="good", metric="accuracy").values
    assert bounds == pytest.approx([0.71 - half, 0.71 + half])
    tables = {table.name: table for table in study_page(joined).tables()}
    assert {"agreement", "places", "subnetworks", "published"} <= tables.keys()
    rows = {keys[0]: cells[1] and cells[1][0] for keys, cells in tables["published"].rows}
    assert rows["agreement of seeds: importance (Michel et al.)"] == ".34 (MRPC)"
    assert rows["heads that stay in all prunings of one task"] == "22 of 144 (MRPC)"
    again = run_command("join", tmp_path, "-o", tmp_path / "joined", "--no-figures", "--json")
    assert again.exit_code == 0, again.output

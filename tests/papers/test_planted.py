"""Each claim has the right verdict where it is planted, and none where nothing is sure."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import t

from headscope.errors import HeadscopeError
from headscope.papers import judge, read_papers
from headscope.papers.paper_claim import Paper, PaperClaim
from headscope.papers.rules import RULES
from headscope.papers.words import measured
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.claims import Claim, examples_wanted
from headscope.report.wording import Estimate
from support.planted_claims import COORDS, planted
from support.tiers import in_turn

CLAIMS = [claim for paper in read_papers() for claim in paper.claims if claim.study]
BY_ID = {claim.id: claim for claim in CLAIMS}
DECIDED = [claim for claim in CLAIMS if RULES[claim.rule].decides]


def judged(claim: PaperClaim, *results: xr.Dataset):
    sources = tuple(Source(Path(f"{number}/result.nc"), result) for number, result in enumerate(results))
    (judgement,) = judge(MeasuredModel(("planted",), "", sources), [Paper("p", "P", (claim,))])
    return judgement


@pytest.mark.parametrize("claim", DECIDED, ids=lambda claim: claim.id)
def test_a_planted_claim_has_its_verdict(claim):
    assert judged(claim, planted(claim, holds=True)).verdict == "holds"
    assert judged(claim, planted(claim, holds=False)).verdict == "fails"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_nine_examples_decide_nothing_and_no_result_is_said(claim):
    assert judged(claim, planted(claim, holds=True, n=9)).verdict == "undecided"
    missing = judged(claim)
    assert missing.verdict == "not measured" and missing.lacks.startswith("headscope ")


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim not in DECIDED], ids=lambda claim: claim.id)
def test_a_number_that_is_only_reported_decides_nothing(claim):
    judgement = judged(claim, planted(claim, holds=True))
    assert (judgement.verdict, judgement.lacks) == ("undecided", "a description: no limit decides it")
    assert judgement.wanted is None and judgement.test
    assert judgement.test.value == pytest.approx(0.2 * claim.number.times)
    assert measured(judgement) == f"{judgement.test.difference.text}; a description: no limit decides it"


def test_means_over_labels_are_compared_by_welchs_test():
    high, low = np.array([0.5, 0.7, 0.6, 0.9]), np.array([0.1, 0.3, 0.2])
    lower, higher = (xr.DataArray(values, dims="task") for values in (low, high))
    claim, words = RULES["below over labels"].test(lower, higher, 0.0, 90)
    errors = [part.var(ddof=1) / part.size for part in (low, high)]
    freedom = sum(errors) ** 2 / sum(error**2 / (size - 1) for error, size in zip(errors, (3, 4), strict=True))
    half = t.ppf(0.975, freedom) * sum(errors) ** 0.5
    assert (claim.difference.lower, claim.difference.upper) == pytest.approx((0.475 - half, 0.475 + half))
    assert (claim.value, claim.baseline, words) == (pytest.approx(0.2), pytest.approx(0.675), "3 labels, and 4 others")
    assert RULES["below over labels"].test(higher, lower, 0.0, 90)[0].verdict == "fails"


def test_words_of_means_over_labels():
    claim = BY_ID["P22"]
    words = measured(judged(claim, planted(claim, holds=True)))
    assert "0.11 against 0.33 (difference -0.22 [-0.24, -0.20])" in words and words.startswith("4 labels")


def test_an_order_of_too_few_labels_is_refused():
    with pytest.raises(HeadscopeError, match="takes 4 to 8 labels, 'entropy' has 3"):
        RULES["in order"].test(xr.DataArray([1.0, 2.0, 3.0], dims="layer", name="entropy"), None, 0.0, 90)


def test_a_result_without_the_number_is_not_measured():
    claim = BY_ID["C1"]
    assert judged(claim, planted(claim, holds=True).drop_vars("attention_offset")).verdict == "not measured"
    assert judged(claim, planted(claim, holds=True).drop_sel(offset=-1)).verdict == "not measured"
    assert judged(BY_ID["C4"], planted(BY_ID["C4"], holds=True) * np.nan).verdict == "not measured"
    assert judged(BY_ID["C8"], planted(BY_ID["C8"], holds=True).drop_vars("uniform_entropy")).verdict == "not measured"


def test_a_result_with_other_options_is_not_taken():
    claim = BY_ID["K4"]
    other = planted(claim, holds=True).assign_attrs(options='{"links": "dependency"}')
    assert judged(claim, other).verdict == "not measured"
    assert judged(claim, other, planted(claim, holds=False)).verdict == "fails"


def test_of_several_results_the_one_with_most_examples_decides():
    claim = BY_ID["C1"]
    few, many = planted(claim, holds=True, n=100), planted(claim, holds=False, n=500)
    judgement = judged(claim, few, many)
    assert (judgement.verdict, judgement.source and judgement.source.path) == ("fails", Path("1/result.nc"))


def test_a_number_of_examples_that_nobody_reads_is_not_named():
    claim = BY_ID["C10"]
    made = planted(claim, holds=True)
    made["chosen_accuracy"] = made["chosen_accuracy"] * 0 + claim.limit - 0.005 + 0.00001
    made["chosen_accuracy_ci"] = made["chosen_accuracy_ci"] * 0 + claim.limit + np.array([-0.01, 0.0001])
    judgement = judged(claim, made)
    assert judgement.verdict == "undecided" and (judgement.wanted or 0) <= 10**6


def test_a_claim_about_the_sink_names_its_token():
    assert judged(BY_ID["C4"], planted(BY_ID["C4"], holds=True)).record()["token"] == "cls"
    assert judged(BY_ID["C1"], planted(BY_ID["C1"], holds=True)).record()["token"] is None


def test_a_claim_about_training_wants_several_seeds():
    claim = BY_ID["K8b"]
    one_seed = judged(claim, planted(claim, holds=True).isel(seed=[0]))
    assert (one_seed.verdict, one_seed.lacks) == ("undecided", "a claim about training needs 3 seeds, here 1")


def width(test: Claim | None) -> float:
    assert test
    return test.difference.upper - test.difference.lower


def test_a_claim_about_training_has_the_error_over_seeds_too():
    """Of the same mean and interval over examples, seeds that differ widely leave the claim undecided."""
    claim = BY_ID["K8b"]
    alike = planted(claim, holds=True)
    apart = alike.copy()
    apart["score_by_seed"] = alike["score"] + xr.DataArray([-0.4, 0.0, 0.4], dims="seed")
    widths = [width(judged(claim, one).test) for one in (alike, apart)]
    over_seeds = 4.302653 * 0.4 / np.sqrt(3)  # t for two degrees of freedom, times the standard error
    assert widths == pytest.approx([0.02, 2 * np.hypot(0.01, over_seeds)], abs=1e-6)
    assert (judged(claim, alike).verdict, judged(claim, apart).verdict) == ("holds", "undecided")
    assert measured(judged(claim, apart)).endswith("; more seeds would tell")


def test_of_patterns_in_several_corpora_the_mean_decides():
    claim = BY_ID["K2"]
    two = xr.concat(
        [planted(claim, holds=True), planted(claim, holds=True)], "task", data_vars=["share_total", "share_total_ci"]
    )
    judgement = judged(claim, two.assign_coords(task=["one", "two"]))
    assert judgement.test and judgement.test.value == pytest.approx(0.41)
    assert judgement.verdict == "holds"


def names(claim: PaperClaim) -> list[str]:
    """The variables that decide a claim."""
    return list({number.variable: None for number in (claim.number, claim.than) if number})


def only(result: xr.Dataset, claim: PaperClaim) -> xr.Dataset:
    return result[[name for name in result.data_vars if str(name).removesuffix("_ci") in names(claim)]]


def redrawn(result: xr.Dataset, rng: np.random.Generator, means: Mapping[str, float], n: int) -> xr.Dataset:
    """The result with means of n normal numbers in the place of its values, and their intervals."""
    made, error = result.copy(), 1 / np.sqrt(n)
    for name, mean in means.items():
        values = rng.normal(mean, error, result[name].shape)
        made[name] = (result[name].dims, values)
        if f"{name}_ci" in result:
            bounds = np.stack([values - 1.96 * error, values + 1.96 * error], axis=-1)
            made[f"{name}_ci"] = (result[f"{name}_ci"].dims, bounds)
    return made.assign_attrs(n_examples=n)


@pytest.mark.parametrize("name", in_turn(["C1", "C10", "C14b", "P2", "P19", "P20"]))
def test_a_claim_that_is_not_true_holds_in_at_most_a_twentieth(name):
    """At the limit itself, of means with their own error."""
    claim, rng, held, runs = BY_ID[name], np.random.default_rng(3), 0, 100
    limit = claim.limit if name in ("C1", "C10") else 0.0
    result = only(planted(claim, holds=True, n=100), claim)
    for _ in range(runs):
        held += judged(claim, redrawn(result, rng, dict.fromkeys(names(claim), limit), 100)).verdict == "holds"
    assert held <= 0.05 * runs + 3 * np.sqrt(runs * 0.05 * 0.95)


KINDS = {"C18": 0.1, "C10": 0.45, "C14b": 0.2, "C14": 0.05, "M3": 0.05}  # above, below, not below; with `than` or not


@pytest.mark.parametrize(("name", "mean"), in_turn(KINDS.items(), of=2))
def test_so_many_examples_as_are_said_decide_a_claim(name, mean):
    """Power by simulation: what is planned from 1.85 errors decides, and the number that gave these does not."""
    claim, rng = BY_ID[name], np.random.default_rng(4)
    result = only(planted(claim, holds=True), claim)
    means = dict.fromkeys(names(claim), 0.0) | {names(claim)[0]: mean}
    gain = {"above": mean - claim.limit, "below": claim.limit - mean, "not below": mean + claim.limit}[claim.rule]
    n = round((1.85 / gain) ** 2 * (2 if claim.than else 1))
    error = 1.96 * gain / 1.85
    stated = examples_wanted(Claim(mean, claim.limit, Estimate(gain, gain - error, gain + error), n))
    assert stated

    def power(n: int) -> float:
        return float(np.mean([judged(claim, redrawn(result, rng, means, n)).verdict == "holds" for _ in range(60)]))

    assert power(n) < 0.7 and power(stated) >= 5 / 6


def of_task(claim: PaperClaim, score: float, n: int = 400) -> xr.Dataset:
    """A result in which the claim holds, of a model with a score on its task; always the same answer has .5."""
    variable = {"ablate": "baseline", "prune": "pruned_score", "shrink": "whole_score"}[claim.study]
    made = planted(claim, holds=True, n=n)
    dims = ("share_removed", "metric") if claim.study == "prune" else ("metric",)
    made = made.assign_coords(metric=COORDS["metric"], share_removed=COORDS["share_removed"])
    shape = tuple(len(COORDS[dim]) for dim in dims)
    made["chance"] = (("metric",), np.full(len(COORDS["metric"]), 0.5))
    made[variable] = (dims, np.full(shape, score))
    made[f"{variable}_ci"] = ((*dims, "bound"), np.full((*shape, 2), score) + np.array([-0.02, 0.02]))
    return made


@pytest.mark.parametrize(
    "claim", [claim for claim in DECIDED if claim.study in ("ablate", "prune", "shrink")], ids=lambda claim: claim.id
)
def test_of_a_model_that_has_not_learned_its_task_no_claim_is_decided(claim):
    judgement = judged(claim, of_task(claim, 0.5))
    assert (judgement.verdict, judgement.lacks, judgement.wanted) == ("undecided", "the task is not learned", None)
    assert judged(claim, of_task(claim, 0.9)).verdict == "holds"
    assert judged(claim, of_task(claim, 0.5), of_task(claim, 0.9, 300)).verdict == "holds", "the other can decide"


def test_few_answers_that_never_change_do_not_show_that_heads_do_no_harm():
    """At a true loss of two points 30 examples show no change of any answer in half of the runs."""
    claim, verdicts = BY_ID["M1"], {}
    for n in (30, 900):
        made = planted(claim, holds=True, n=n)
        made["head_gain"] *= 0
        made["head_gain_ci"] *= 0
        verdicts[n] = judged(claim, made).verdict
    assert verdicts == {30: "undecided", 900: "holds"}

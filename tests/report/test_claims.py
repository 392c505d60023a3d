"""Verdicts: known effects are found, and no effect is claimed, in the share of runs that the tests promise."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from headscope.report.claims import (
    Claim,
    above,
    above_random_weights,
    apart,
    examples_wanted,
    head_above,
    most_of_many,
    no_worse,
    paired,
    tied,
    together,
    wanted_in_words,
    weakest,
    witness,
)
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.study_page import NO_CLAIM, strongest_first
from headscope.report.wording import Estimate
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval, of_differences
from support.tiers import in_turn

RUNS = 500


def estimates(mean: float, n: int, seed: int, spread: float = 0.5) -> list[Estimate]:
    """The means of RUNS samples with their normal 95% intervals."""
    samples = np.random.default_rng(seed).normal(mean, spread, (RUNS, n))
    means, errors = samples.mean(1), 1.96 * samples.std(1, ddof=1) / np.sqrt(n)
    return [Estimate(m, m - e, m + e) for m, e in zip(means.tolist(), errors.tolist(), strict=True)]


def share(claims: list[Claim], verdict: str) -> float:
    return float(np.mean([claim.verdict == verdict for claim in claims]))


@pytest.mark.parametrize(("difference", "verdict", "least"), [(0.2, "holds", 0.95), (-0.2, "fails", 0.95)])
def test_a_clear_difference_has_its_verdict(difference, verdict, least):
    gains = estimates(difference, 200, seed=1)
    assert share([paired(Estimate(0.5), Estimate(0.4), gain, 200) for gain in gains], verdict) >= least


def test_no_difference_is_claimed_in_at_most_a_twentieth():
    gains = estimates(0.0, 100, seed=2)
    assert share([paired(Estimate(0.5), Estimate(0.5), gain, 100) for gain in gains], "holds") <= 0.05
    pairs = zip(estimates(0.3, 100, seed=3), estimates(0.3, 100, seed=4), strict=True)
    assert share([apart(one, other, 100) for one, other in pairs], "holds") <= 0.05


def heads(means: np.ndarray, errors: float) -> xr.DataArray:
    bounds = {"lower": ("head", means - 1.96 * errors), "upper": ("head", means + 1.96 * errors)}
    return xr.DataArray(means, bounds, ["head"])


def test_the_highest_of_seventy_equal_heads_does_not_stand_out():
    rng = np.random.default_rng(5)
    equal = [most_of_many(heads(rng.normal(0.3, 0.02, 72), 0.02), 100) for _ in range(RUNS // 5)]
    assert share(equal, "holds") <= 0.05
    planted = rng.normal(0.3, 0.02, 72)
    planted[7] = 0.5
    assert most_of_many(heads(planted, 0.02), 100).verdict == "holds"
    assert most_of_many(heads(planted, 0.2), 100).verdict == "undecided"


@pytest.mark.parametrize("sharpness", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("count", [4, 72])
def test_heads_that_differ_at_random_have_none_apart_however_much_they_differ(sharpness, count):
    rng = np.random.default_rng(12)
    random = [most_of_many(heads(np.exp(rng.normal(0, sharpness, count)), 1e-6), 100) for _ in range(RUNS // 5)]
    assert share(random, "holds") <= 0.06


def test_random_weights_of_few_seeds_are_not_compared():
    trained = Estimate(0.5, 0.48, 0.52)
    assert above_random_weights(trained, [0.2, 0.2], 400).verdict == "undecided"
    rng = np.random.default_rng(6)
    none = [above_random_weights(score, rng.normal(0.2, 0.02, 3), 400) for score in estimates(0.2, 400, 7, 0.4)]
    assert share(none, "holds") <= 0.05


def test_a_loss_above_the_tolerance_is_called_harmless_in_at_most_a_twentieth():
    at_tolerance = [no_worse(change, 0.02, 300) for change in estimates(-0.02, 300, seed=8, spread=0.2)]
    assert share(at_tolerance, "holds") <= 0.05
    harmless = [no_worse(change, 0.02, 3000) for change in estimates(0.0, 3000, seed=9, spread=0.2)]
    assert share(harmless, "holds") >= 0.95


@pytest.mark.parametrize("effect", in_turn([0.5, 1.0, 2.0, 4.0], at=1, of=2))
def test_the_number_of_examples_that_is_named_decides_in_five_samples_of_six(effect):
    """True differences of the size of some errors: on so many other examples it is decided, or nothing is named."""
    rng, n, kept = np.random.default_rng(3), 100, []
    for _ in range(16 * RUNS):
        truth = rng.normal(0, effect)  # in errors of n examples
        seen = rng.normal(truth, 1)
        claim = above(Estimate(seen, seen - 1.96, seen + 1.96), 0.0, n)
        if claim.verdict == "undecided" and (wanted := examples_wanted(claim)):
            error = (n / wanted) ** 0.5
            other = rng.normal(truth, error)
            again = above(Estimate(other, other - 1.96 * error, other + 1.96 * error), 0.0, wanted)
            kept.append(again.verdict != "undecided")
    assert len(kept) > 100 and np.mean(kept) >= 5 / 6


def test_a_number_of_examples_minds_the_least_difference_that_is_worth_a_sentence():
    """So many give at least the point that is spoken of, in five samples of six; less than a point names no number."""
    claim = Claim(0.6, 0.5, Estimate(0.1, -0.002, 0.202), 100, least=0.01)
    fewer, more = examples_wanted(replace(claim, least=0.0)), examples_wanted(claim)
    assert fewer and more and fewer < more
    assert examples_wanted(replace(claim, least=0.02)) is None


def test_what_has_not_occurred_names_no_number():
    """Of 30 examples none is won: how often one is won is not known, and so not how many would decide."""
    assert examples_wanted(above(Estimate(-0.1, -0.2, 0.0), 0.0, 30)) is None
    assert examples_wanted(no_worse(Estimate(0.0, 0.0, 0.0), 0.02, 30)) is None
    assert wanted_in_words(paired(Estimate(0.4), Estimate(0.5), Estimate(-0.1, -0.2, 0.0), 30), "words").startswith(
        " These are too few to say"
    )


def test_layers_that_cannot_be_told_apart_are_named_together():
    means = {1: Estimate(0.2, 0.19, 0.21), 2: Estimate(0.40, 0.38, 0.42), 3: Estimate(0.41, 0.39, 0.43)}
    assert tied(means) == [2, 3]
    assert tied({1: Estimate(0.2), 2: Estimate(0.3)}) == [1, 2]


def judged(value: float, lower: float, upper: float) -> Finding:
    claim = Claim(value, 0.1, Estimate(value - 0.1, lower - 0.1, upper - 0.1), 100)
    return Finding.judged(
        claim, "text", holds=f"holds {value}", fails=f"fails {value}", undecided=f"may {value}", unit=""
    )


def test_the_first_screen_has_the_strongest_claims_first():
    plain = Finding("Plain", "A number.")
    order = strongest_first([plain, judged(0.05, 0, 0.08), judged(0.3, 0.2, 0.4), judged(0.9, 0.8, 1)], NO_CLAIM)
    assert [finding.topic for finding in order] == ["holds 0.9", "holds 0.3", "fails 0.05", "Plain"]
    assert strongest_first([plain, judged(0.1, 0, 0.2)], NO_CLAIM)[0] == NO_CLAIM
    assert strongest_first([plain], NO_CLAIM) == [plain]


def test_a_record_has_the_numbers_of_its_claim():
    record = judged(0.3, 0.2, 0.4).record()
    assert record["verdict"] == "holds" and record["interval"] == pytest.approx([0.1, 0.3]) and record["n"] == 100
    assert Finding("Plain", "A number.").record() == {
        **dict.fromkeys(("verdict", "value", "baseline", "difference", "interval", "n", "q")),
        "topic": "Plain",
        "text": "A number.",
    }


def test_an_undecided_claim_with_a_unit_says_how_many_would_do_and_others_do_not() -> None:
    titles = {"holds": "It does", "fails": "It does not", "undecided": "Too few words to tell"}
    unsure, sure = above(Estimate(0.5, 0.398, 0.602), 0.4, 100), above(Estimate(0.5, 0.45, 0.55), 0.4, 100)
    many = "50%. About 12,000 words would settle this, in five samples of six."
    assert Finding.judged(unsure, "50%.", **titles, unit="words").text == many
    assert Finding.judged(sure, "50%.", **titles, unit="words").text == "50%."
    assert Finding.judged(unsure, "50%.", **titles, unit="").text == "50%."


def test_how_many_would_do_minds_the_correction_and_what_more_cases_do_not_narrow() -> None:
    corrected = Claim(0.5, 0.4, Estimate(0.1, 0.03, 0.17), 100, q=0.2)
    wanted = examples_wanted(corrected)
    assert wanted and wanted > examples_wanted(replace(corrected, q=0.06)) > 100  # type: ignore[operator]
    assert examples_wanted(replace(corrected, q=1.0)) is None
    seeds = above_random_weights(Estimate(0.5, 0.4, 0.6), [0.4, 0.401, 0.399], 100)
    wanted = examples_wanted(seeds)
    assert wanted is not None and wanted > examples_wanted(replace(seeds, fixed=0.0)) > 100  # type: ignore[operator]
    assert examples_wanted(above_random_weights(Estimate(0.5, 0.3, 0.7), [0.4, 0.5, 0.3], 100)) is None


SURE, OPEN, NONE = (Claim(0.5, 0.0, Estimate(value, value - 0.1, value + 0.1), 90) for value in (0.2, 0.05, -0.3))


def test_that_any_holds_is_shown_by_one_and_that_none_does_only_by_all():
    assert witness([NONE, OPEN, SURE]) == 2 and witness([NONE, OPEN]) == 1 and witness([NONE, NONE]) == 0
    assert witness([replace(OPEN, difference=Estimate(np.nan)), OPEN]) == 1
    assert weakest([SURE, OPEN, NONE]) is NONE and weakest([SURE, OPEN]) is OPEN and weakest([SURE]) is SURE


def test_of_ten_claims_together_any_is_earned_by_noise_in_at_most_a_twentieth():
    gains = [estimates(0.0, 100, seed) for seed in range(20, 30)]
    runs = [[paired(Estimate(0.5), Estimate(0.5), one[run], 100, 0) for one in gains] for run in range(400)]
    assert np.mean([any(one.verdict == "holds" for one in run) for run in runs]) > 0.1
    assert np.mean([any(one.verdict == "holds" for one in together(run)) for run in runs]) <= 0.05
    assert np.isnan(together([Claim(0.5, 0.4, Estimate(0.1), 90)])[0].q)


def test_that_no_head_is_above_a_limit_is_sure_only_if_none_may_be():
    below = heads(np.array([0.4, 0.3, 0.2]), 0.01)
    below = below.assign_coords(n_examples=100)
    assert head_above(below, 0.5).verdict == "fails" and head_above(below, 0.35).verdict == "holds"
    below["upper"].loc[{"head": 2}] = 0.8
    assert head_above(below, 0.5).verdict == "undecided" and head_above(below, 0.5).value == 0.2
    unknown = below.drop_vars(["lower", "upper"])
    assert head_above(unknown, 0.35).verdict == "undecided" and head_above(unknown, 0.35).value == 0.4


@pytest.mark.parametrize("rates", [(0.01, 0.0), (0.03, 0.02), (0.06, 0.05), (0.1, 0.09)])
def test_a_gain_of_a_point_of_few_answers_fails_in_at_most_a_twentieth(rates):
    """Of 30 examples often none is won: percentile intervals then end at exactly 0, whatever the gain is."""
    won, lost = rates
    draws, rng = poisson_draws(range(30), 0, 300), np.random.default_rng(1)
    verdicts = []
    for answers in rng.choice([1.0, -1.0, 0.0], (RUNS // 4, 30), p=[won, lost, 1 - won - lost]):
        bounds = interval((draws @ answers) / draws.sum(1), 30)
        for made in (bounds, of_differences(bounds, 30)):
            verdicts.append(paired(Estimate(0.5), Estimate(0.5), Estimate(answers.mean(), *made), 30))
    assert share(verdicts, "fails") <= 0.05
    assert above(Estimate(0.0, 0.0, 0.0), 0.0, 30).verdict == "undecided"


@pytest.mark.parametrize(
    ("score", "baseline", "topic"),
    [
        (0.5, 0.4, "Syntax comes from training"),
        (0.5, 0.6, "Syntax: a baseline does as well"),
        (0.5, 0.5, "Syntax: not distinguishable from a baseline"),
        (0.1, 0.05, "Syntax: random weights do as well"),
    ],
)
def test_what_is_no_better_than_a_baseline_does_not_come_from_training(score, baseline, topic):
    """Trained weights draw trees of other sentences better than random ones do, and worse than a fixed word."""
    trained, simple = (Estimate(value, value - 0.02, value + 0.02) for value in (score, baseline))
    finding = beside_random_seeds("Syntax", trained, [0.2, 0.21, 0.19], apart(trained, simple, 400), "", "words")
    assert finding.topic == topic and (finding.verdict == "holds") == topic.endswith("training")

"""The page of `pretrain` says which way has certain heads first, and nothing where that is not sure."""

from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr

from headscope import Settings
from headscope.report.claims import seeds_apart
from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES
from headscope.studies.training.pretrain.variables import first_steps, focus_shares, to_variables
from headscope.training import TrainedOutputs

LEARNED = "Learned more than frequencies: tokens, words"
FIRST = "Way 'words' has a head that looks at the previous token first"
NOT_FIRST = "Ways are not told apart by when they have a head that looks at the previous token"
STEPS = np.array([0, 1, 3, 7, 15, 31])
TOKENS = 20


def course(first: float, loss: float) -> dict[str, np.ndarray]:
    """A training whose second head looks at the previous token from a step on, and not before; the loss at its end."""
    focus = np.full((len(STEPS), 2, 6), 0.05)
    focus[:, 1, 0] = np.clip(1 / 3 + 0.1 * (np.log1p(STEPS) - np.log1p(first)), 0.05, 0.9)
    losses = np.linspace(7, loss, len(STEPS))
    outputs = np.stack([losses * TOKENS, np.full(len(STEPS), TOKENS), np.ones(len(STEPS))], axis=-1)
    return {"step": STEPS, "outputs": outputs, "focus": focus, "entropy": np.full((len(STEPS), 2), 2.0)}


def made(ways: dict[str, Sequence[tuple[float, float]]], frequency: float = 7.0) -> xr.Dataset:
    """A result: of each way the first step and the loss of each seed."""
    courses = {way: [course(*one) for one in seeds] for way, seeds in ways.items()}
    rows = np.array([[1, 5, 1]] * (TOKENS // 5), dtype=np.float32)
    runs = {
        way: [TrainedOutputs(rows * [loss * 5, 1, 0], rows[None, :0], np.ones(8, np.float32)) for _, loss in seeds]
        for way, seeds in ways.items()
    }
    unigrams = {way: rows * [frequency * 5, 1, 0] for way in ways}
    units = range(len(rows))
    result = to_variables(runs, courses, unigrams, units, Settings(resamples=50))
    return result.assign_attrs(dict.fromkeys(ATTRIBUTES, "made") | {"study": "pretrain"})


def findings(result: xr.Dataset) -> dict[str, str | None]:
    page = study_page(result)
    return {one.topic: one.verdict for one in (*page.highlights(), *page.findings())}


EARLY, LATE = [(3, 6.0), (3.2, 6.01), (2.9, 6.02)], [(7, 6.5), (7.4, 6.52), (6.8, 6.53)]


def test_the_way_that_has_heads_first_and_the_lowest_loss_is_named() -> None:
    result = made({"tokens": LATE, "words": EARLY})
    assert float(result["first_step"].sel(way="words", focus="previous")) == pytest.approx(3.03, abs=0.1)
    assert bool(result["first_step"].sel(focus=["next", "special"]).isnull().all())
    found = findings(result)
    assert found[LEARNED] == "holds"
    assert found["Way 'words' predicts masked pieces best"] == "holds"
    assert found[FIRST] == "holds"
    assert not [topic for topic in found if "next token" in topic or "sink" in topic], "which no way has"


def test_ways_that_seeds_do_not_tell_apart_are_said_to_be_so() -> None:
    result = made({"tokens": [(3, 6.0), (7, 6.4), (5, 6.2)], "words": [(7, 6.3), (3, 6.1), (4, 6.25)]})
    found = findings(result)
    assert found["Ways are not told apart by their loss"] == "undecided"
    assert found[NOT_FIRST] == "undecided"


def test_nothing_is_compared_of_ways_that_learn_nothing() -> None:
    found = findings(made({"tokens": LATE, "words": EARLY}, frequency=6.4))
    assert found["Learned more than frequencies: words; not shown of tokens"] == "holds"
    found = findings(made({"tokens": LATE, "words": EARLY}, frequency=6.0))
    assert [topic for topic, verdict in found.items() if verdict == "holds"] == []
    assert [topic for topic in found if topic.startswith("Way")] == []


def test_a_way_without_the_heads_has_them_later_than_the_last_step() -> None:
    never = [(1e6, 6.5), (1e6, 6.52), (1e6, 6.53)]
    found = study_page(made({"tokens": never, "words": EARLY})).highlights()
    texts = {one.topic: one.text for one in found}
    text = texts[FIRST]
    assert "tokens in 0 of 3 seeds within 31 steps" in text


def test_two_of_many_ways_are_compared_with_more_care() -> None:
    first, second = [1.0, 1.2, 1.1], [0.8, 0.9, 0.95]
    assert seeds_apart(first, second, 100).verdict == "holds"
    assert seeds_apart(first, second, 100, tests=6).verdict == "undecided"
    claim = seeds_apart(first, second, 100)
    assert claim.difference.value == pytest.approx(0.2167, abs=1e-4)
    assert claim.difference.lower == pytest.approx(
        0.2167 - 4.3027 * np.std([0.2, 0.3, 0.15], ddof=1) / 3**0.5, abs=1e-3
    )


def test_shares_are_those_of_the_head_that_has_most_and_of_special_tokens_the_mean() -> None:
    focus = np.zeros((1, 2, 6))
    focus[0, 0], focus[0, 1] = [0.1, 0.0, 0.7, 0.1, 0.1, 0.0], [0.6, 0.0, 0.1, 0.0, 0.2, 0.0]
    np.testing.assert_allclose(focus_shares({"focus": focus})[:, 0], [0.6, 0.7, 0.2])
    assert first_steps(np.array([0.5, 0.6]), np.array([0, 4])) == 0

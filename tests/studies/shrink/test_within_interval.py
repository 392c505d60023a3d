"""The smallest model within the interval of the whole one's score, and parts that go in another order."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope import HeadscopeError, Settings
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.choices import by_method
from headscope.studies.shrink.prices import Prices
from headscope.studies.shrink.record import SearchRecord
from headscope.studies.shrink.score_limit import score_limit
from headscope.studies.shrink.search import SizeSearch, found_steps
from headscope.studies.shrink.sizes import Original, Size, original_of
from headscope.studies.shrink.splits import Splits, encode, split
from headscope.studies.shrink.target import target
from support.idle_neurons import TEXTS, idle
from support.planted_task import planted_classifier, planted_task
from support.tiny import tiny_tokenizer

QUICK = Settings(resamples=50)
# Half of a layer's neurons save as much as a quarter of its time.
PRICES = Prices(((1, 8),), 3, 4, (0.0,), (32, 16), ((3.0,), (2.25,)), (0.0,))


@pytest.fixture(scope="module")
def original() -> Original:
    """An encoder in which half of the neurons do nothing."""
    model = idle()
    return original_of(model, encode(model, tuple(headscope.read(TEXTS[:12]))), QUICK, 0.1)


def texts_of(stopping: int) -> Splits:
    """So many texts choose."""
    examples = tuple(headscope.read(TEXTS))
    return Splits(examples[:12], examples[-stopping:], examples[12:20], tuple(range(8)))


def test_search_ends_before_the_score_falls(original: Original, tmp_path: Path) -> None:
    answers, texts = answers_of(original.model, None), texts_of(20)
    choosing = encode(original.model, texts.stopping)
    limit = score_limit(original.model, answers, texts, choosing, 0.05, QUICK)
    assert limit.keeps(original.cut(Size((0, 1, 2), 16, 4))) and not limit.keeps(original.cut(Size((0,), 16, 4)))
    record = SearchRecord(tmp_path / "search" / "search.json", {}, lambda line: None)
    inputs = encode(original.model, texts.training)
    before, wanted = answers.of(original.model, inputs, QUICK), target(None, None, 10, within=True)
    search = SizeSearch(original, answers, inputs, before, PRICES, wanted, 2, 0.0, QUICK, limit.keeps)
    steps = found_steps(search, record, None, best_effort=False)
    assert [step.part for step in steps] == ["", "neurons"] and steps[-1].size.of_layers[0][0] == 16
    assert found_steps(search, record, record.read(), best_effort=False) == steps


def test_limit_of_a_task_is_the_interval_of_the_whole_model() -> None:
    model, task = headscope.wrap(planted_classifier(), tiny_tokenizer()), planted_task(60, 200)
    texts, answers = split(model, task.dev, task, 0), answers_of(model, task)
    choosing = encode(model, texts.stopping)
    limit = score_limit(model, answers, texts, choosing, None, QUICK)
    assert len(texts.stopping) == 20 and limit.task is not None and limit.task.dev.n_examples == 20
    assert limit.tolerance == pytest.approx(1 - 0.025 ** (1 / 20))  # 20 of 20 are right: Clopper and Pearson
    assert score_limit(model, answers, texts, choosing, 0.5, QUICK).keeps(model)


def test_a_target_beside_the_interval_is_refused() -> None:
    wanted = target(None, None, 10, within=True)
    assert wanted.words() == "as small as the interval of its score allows" and not wanted.fast_enough(0.01)
    with pytest.raises(HeadscopeError, match="leave --speed and --size out"):
        target("2x", None, 10, within=True)


@pytest.mark.parametrize(("method", "is_found"), [("estimate", True), ("magnitude", True), ("random", False)])
def test_neurons_that_do_nothing_are_found_by_every_method_but_random(
    original: Original, method: str, is_found: bool
) -> None:
    others = by_method(original, method, 0)
    kept = others.kept(Size((0, 1, 2), 16, 4)).neurons
    assert (kept == (tuple(range(0, 32, 2)),) * 3) == is_found
    assert by_method(original, method, 0).kept(Size((0, 1, 2), 16, 4)).neurons == kept


def test_layers_go_in_the_order_of_the_method(original: Original) -> None:
    ordered = replace(original, layer_order=(2, 0, 1))
    assert [part for part, _ in original.size.smaller(original, 2)][1:] == ["layer 1", "layer 2", "layer 3"]
    assert [part for part, _ in ordered.size.smaller(ordered, 2)][1:] == ["layer 3"]
    assert [part for part, _ in Size((0, 1), 16, 4).smaller(ordered, 2)] == ["layer 1"]
    lengths = [
        sum(float(weight.detach().square().sum()) for weight in layer.parameters())
        for layer in original.parts.stack.layers
    ]
    assert by_method(original, "magnitude", 0).layer_order == tuple(np.argsort(lengths).tolist())

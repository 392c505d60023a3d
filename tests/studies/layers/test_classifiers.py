"""Classifiers that train together equal those of scikit-learn, one after the other; codes equal a slow loop."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

from headscope.studies.layers.layers.features import ClassifierSettings, TrainedTask, outputs, principal_axes, standard
from headscope.studies.layers.layers.groups import ABSENT, Answers, CaseGroup
from headscope.studies.layers.layers.train import ridge, train
from headscope.studies.layers.layers.train_classes import fit_logistic, in_span, portions

SPACES, CASES, WIDTH = 3, 240, 12
PENALTIES = (1.0, 30.0)
CPU = torch.device("cpu")


def made(seed: int = 0) -> tuple[torch.Tensor, np.ndarray]:
    """Vectors, and the answers of three tasks that depend on those of the first space; some are absent."""
    random = np.random.default_rng(seed)
    raw = random.normal(size=(SPACES, CASES, WIDTH)) @ random.normal(size=(WIDTH, WIDTH))
    answers = np.stack(
        [
            (raw[0] @ random.normal(size=(WIDTH, number)) + random.normal(size=(CASES, number))).argmax(1)
            for number in CLASSES
        ]
    )
    answers[2, ::3] = ABSENT
    given = torch.from_numpy(raw)
    return standard(given)(given), answers


CLASSES = (4, 2, 3)


EXACT: dict[str, Any] = {"tolerance": 1e-7, "most_steps": 500}


def fitted(given: torch.Tensor, answers: np.ndarray, **options: Any) -> dict[float, torch.Tensor]:
    return fit_logistic(given, torch.from_numpy(answers), CLASSES[: len(answers)], PENALTIES, **EXACT | options)


def test_weights_equal_scikit_learn_at_equal_penalty() -> None:
    given, answers = made()
    for penalty, weights in fitted(given, answers).items():
        for task, of_task in enumerate(weights.split(CLASSES, 1)):
            present = answers[task] != ABSENT
            for space in range(SPACES):
                model = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
                model.fit(given[space, present].numpy(), answers[task][present])
                expected = np.c_[model.coef_, model.intercept_]
                own = of_task[space].numpy()
                own = own[1:] - own[:1] if CLASSES[task] == 2 else own - own.mean(0)
                expected = expected if CLASSES[task] == 2 else expected - expected.mean(0)
                np.testing.assert_allclose(own, expected, atol=1e-4)


def test_tasks_together_equal_tasks_alone() -> None:
    given, answers = made()
    together, alone = fitted(given, answers), fitted(given, answers[:1])
    for penalty in PENALTIES:
        torch.testing.assert_close(together[penalty][:, : CLASSES[0]], alone[penalty], atol=1e-5, rtol=1e-4)


def test_a_warm_start_ends_at_the_same_weights() -> None:
    given, answers = made()
    start = fit_logistic(given[:, :60], torch.from_numpy(answers[:, :60]), CLASSES, PENALTIES)
    warm, cold = fitted(given, answers, starts=start), fitted(given, answers)
    for penalty in PENALTIES:
        pairs = (outputs(weights[penalty], given).split(CLASSES, 1) for weights in (warm, cold))
        for one, other in zip(*pairs, strict=True):  # a number that is added to all classes changes no probability
            torch.testing.assert_close(one - one.mean(1, True), other - other.mean(1, True), atol=1e-3, rtol=0)


def test_a_class_that_the_first_portion_lacks_is_learned_from_the_next() -> None:
    given, answers = made()
    given, right = given.float() * torch.linspace(0.2, 5, WIDTH), torch.from_numpy(answers[:1])
    order = right[0].argsort(stable=True)  # the first 30 cases have one class, the last ones all
    given, right, penalties = given[:, order], right[:, order], (0.1, 10.0)
    start = fit_logistic(given[:, :30], right[:, :30], (4,), penalties)
    warm, cold = (fit_logistic(given, right, (4,), penalties, initial, most_steps=300) for initial in (start, None))
    for penalty in penalties:
        chances = [outputs(weights[penalty], given).softmax(1) for weights in (warm, cold)]
        torch.testing.assert_close(*chances, atol=0.02, rtol=0)


def test_axes_change_the_way_and_not_the_minimum() -> None:
    given, answers = made()
    few = given[:, :9]  # fewer cases than dimensions
    for some in (given, few):
        of_cases = answers[:, : some.shape[1]]
        one, other = (fitted(some, of_cases, axes=principal_axes(some, most)) for most in (2, WIDTH))
        for penalty in PENALTIES:
            pair = (
                weights[penalty][..., :-1] for weights in (one, other)
            )  # the intercept of an absent class has no minimum
            torch.testing.assert_close(*pair, atol=1e-4, rtol=1e-3)


def test_few_cases_are_fitted_within_the_span_of_their_vectors() -> None:
    given, answers = made()
    given, right = torch.cat([given, given.square(), given**3 / 3], dim=-1)[:, :12], torch.from_numpy(answers[:, :12])
    fit = partial(fit_logistic, classes=CLASSES, penalties=PENALTIES, most_steps=500)
    plain = fit(given, right, tolerance=1e-7)
    for starts in (None, fit(given[:, :6], right[:, :6], tolerance=1e-7)):
        within = in_span(fit, given, right, starts, 1e-7)
        for penalty in PENALTIES:
            pair = [outputs(weights[penalty], given).split(CLASSES, 1) for weights in (plain, within)]
            for one, other in zip(*pair, strict=True):
                torch.testing.assert_close(one.softmax(1), other.softmax(1), atol=1e-4, rtol=0)  # some class is absent
            torch.testing.assert_close(plain[penalty][..., :-1], within[penalty][..., :-1], atol=1e-4, rtol=0)


def test_axes_have_the_energy_of_the_vectors() -> None:
    given, _ = made()
    energy = torch.linalg.eigvalsh(given.mT @ given / CASES)
    full, most = principal_axes(given, WIDTH), principal_axes(given, 6)
    torch.testing.assert_close(full.energy[:, 0], energy)
    torch.testing.assert_close(most.energy[:, 0, -1], energy[:, -1], rtol=0.1, atol=0)
    total = most.energy.sum(-1) + (WIDTH - 6) * most.rest[..., 0]
    torch.testing.assert_close(total[:, 0], energy.sum(-1))


def test_ridge_equals_scikit_learn() -> None:
    given, _ = made()
    values = given[1] @ torch.arange(WIDTH, dtype=given.dtype) + 0.1 * given[0, :, 0]
    weights = ridge(given, values, (0.5, 20.0))
    for space in range(SPACES):
        for index, penalty in enumerate((0.5, 20.0)):
            model = Ridge(alpha=penalty).fit(given[space].numpy(), values.numpy())
            np.testing.assert_allclose(weights[space, index, :-1].numpy(), model.coef_, atol=1e-8)
            assert weights[space, index, -1].item() == pytest.approx(float(model.intercept_), abs=1e-8)


def group(raw: torch.Tensor, answers: np.ndarray, classes: int) -> CaseGroup:
    """A task on the cases in their order: the first half to train, a quarter to choose, a quarter to report."""
    ends = {"train": slice(0, 120), "choose": slice(120, 180), "report": slice(180, 240)}
    units = {part: np.arange(CASES)[rows, None] for part, rows in ends.items()}
    texts = {part: np.arange(CASES)[rows] for part, rows in ends.items()}
    return CaseGroup(units, texts, [Answers("task", classes, {part: answers[rows] for part, rows in ends.items()})])


def trained(raw: torch.Tensor, answers: np.ndarray, classes: int, **settings: object) -> TrainedTask:
    tables = [table.numpy().astype(np.float16) for table in raw]
    return train(group(raw, answers, classes), tables, ClassifierSettings(**settings), CPU)[0]  # type: ignore[arg-type]


def planted(layer: int) -> tuple[torch.Tensor, np.ndarray]:
    """Random vectors, but those of one layer have the class in their first dimension."""
    random = np.random.default_rng(1)
    raw, answers = random.normal(size=(4, CASES, WIDTH)), random.integers(0, 2, CASES)
    raw[layer, :, 0] = 4 * answers - 2 + 0.1 * raw[layer, :, 0]
    return torch.from_numpy(raw), answers


def test_a_planted_layer_is_read_without_an_error_and_random_ones_are_chance() -> None:
    raw, answers = planted(2)
    task = trained(raw, answers, 2, penalties=(1.0, 100.0))
    right = 1 - task.loss.mean(0)
    assert right[2] == 1 and task.choice.argmax() == 2
    assert (abs(right[[0, 1, 3]] - 0.5) < 0.2).all()
    assert task.code[2] < 0.4 * task.uniform < task.code[[0, 1, 3]].min()


def test_a_value_that_is_planted_is_read_and_random_vectors_explain_nothing() -> None:
    random = np.random.default_rng(2)
    raw, values = random.normal(size=(2, CASES, WIDTH)), random.normal(size=CASES)
    raw[1, :, 3] = 3 * values
    task = trained(torch.from_numpy(raw), values, 0, penalties=(0.01, 1000.0))
    explained = 1 - task.loss.sum(0) / task.base.sum()
    assert explained[1] > 0.999 and explained[0] < 0.1
    assert np.isnan(task.code).all() and task.penalty.tolist() == [1000.0, 0.01]


def test_the_online_code_equals_a_slow_loop() -> None:
    given, answers = made()
    raw = given.half().float()
    answers[0, :4] = range(4)  # scikit-learn needs each class in the first portion
    task = trained(raw, answers[0], 4, penalties=(10.0,), tolerance=1e-6, most_steps=500)
    rows, right = raw[:, :120], answers[0][:120]
    scaled = standard(rows)(rows).numpy()
    ends = portions(120)
    for space in range(SPACES):
        bits = 2.0 * ends[0]
        for end, following in pairwise(ends):
            model = LogisticRegression(C=0.1, tol=1e-10, max_iter=5000).fit(scaled[space, :end], right[:end])
            share = model.predict_proba(scaled[space, end:following])
            bits -= np.log2(share[np.arange(following - end), right[end:following]]).sum()
        assert task.code[space] == pytest.approx(bits, rel=2e-2)
    assert task.uniform == 240


@pytest.mark.parametrize("seed", [1, 3])
def test_few_cases_are_fitted_until_no_score_differs_from_the_minimum(seed: int) -> None:
    raw, answers = made(seed)
    raw = (raw * torch.linspace(0.05, 3, WIDTH)).half().float() + 5
    near, exact = (
        trained(raw, answers[0], 4, penalties=(0.01,), tolerance=tolerance, codes=False) for tolerance in (2e-4, 1e-7)
    )
    np.testing.assert_array_equal(near.loss, exact.loss)


def test_the_penalty_is_chosen_on_cases_for_choices_alone() -> None:
    raw, answers = planted(1)
    other = answers.copy()
    other[180:] = 1 - other[180:]
    one, two = (trained(raw, right, 2, penalties=(1.0, 100.0)) for right in (answers, other))
    np.testing.assert_array_equal(one.penalty, two.penalty)
    np.testing.assert_array_equal(one.choice, two.choice)
    np.testing.assert_array_equal(one.loss, 1 - two.loss)

"""Classifiers that train together equal those of scikit-learn, one after the other; codes equal a slow loop."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

from headscope.studies.layers.features import Rotated, outputs, rotated, standard
from headscope.studies.layers.groups import ABSENT, Answers, CaseGroup
from headscope.studies.layers.logistic import fit_logistic, problems_of
from headscope.studies.layers.ridge import ridge
from headscope.studies.layers.train import ClassifierSettings, TrainedTask, portions, train

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


def fitted(given: torch.Tensor, answers: np.ndarray, penalties: tuple[float, ...] = PENALTIES) -> torch.Tensor:
    problems = problems_of(CLASSES[: len(answers)], penalties)
    return fit_logistic(rotated(given), torch.from_numpy(answers), problems, tolerance=1e-7, most_steps=500)


def test_weights_equal_scikit_learn_at_equal_penalty() -> None:
    given, answers = made()
    weights, at = fitted(given, answers), 0
    for task, classes in enumerate(CLASSES):
        present = answers[task] != ABSENT
        for penalty in PENALTIES:
            for space in range(SPACES):
                model = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
                model.fit(given[space, present].numpy(), answers[task][present])
                expected = np.c_[model.coef_, model.intercept_]
                own = weights[space, at : at + classes].numpy()
                own = own[1:] - own[:1] if classes == 2 else own - own.mean(0)
                expected = expected if classes == 2 else expected - expected.mean(0)
                np.testing.assert_allclose(own, expected, atol=1e-4)
            at += classes


def test_tasks_together_equal_tasks_alone() -> None:
    given, answers = made()
    together, alone = fitted(given, answers), fitted(given, answers[:1])
    torch.testing.assert_close(together[:, : alone.shape[1]], alone, atol=1e-5, rtol=1e-4)


def test_a_warm_start_ends_at_the_same_weights() -> None:
    given, answers = made()
    problems = problems_of(CLASSES, PENALTIES)
    right = torch.from_numpy(answers)
    start = fit_logistic(rotated(given[:, :60]), right[:, :60], problems)
    warm = fit_logistic(rotated(given), right, problems, start, tolerance=1e-7, most_steps=500)
    scores = [outputs(weights, given).numpy() for weights in (warm, fitted(given, answers))]
    at = 0
    for problem in problems:  # a number that is added to all classes changes no probability
        one, other = (each[:, at : at + problem.classes] for each in scores)
        np.testing.assert_allclose(one - one.mean(1, keepdims=True), other - other.mean(1, keepdims=True), atol=1e-3)
        at += problem.classes


def test_a_class_that_the_first_portion_lacks_is_learned_from_the_next() -> None:
    given, answers = made()
    given, right = given.float() * torch.linspace(0.2, 5, WIDTH), torch.from_numpy(answers[:1])
    right = right[:, right[0].argsort(stable=True)]  # the first 30 cases have one class, the last ones all
    order = torch.from_numpy(answers[0]).argsort(stable=True)
    given, problems = given[:, order], problems_of((4,), (0.1, 10.0))
    start = fit_logistic(rotated(given[:, :30]), right[:, :30], problems)
    warm, cold = (fit_logistic(rotated(given), right, problems, each, most_steps=300) for each in (start, None))
    chances = [outputs(each, given).unflatten(1, (2, 4)).softmax(2) for each in (warm, cold)]
    torch.testing.assert_close(*chances, atol=0.02, rtol=0)


def test_fewer_cases_than_dimensions_have_the_same_minimum() -> None:
    given, answers = made()
    few, right = given[:, :9], torch.from_numpy(answers[:1, :9])
    problems = problems_of(CLASSES[:1], PENALTIES)
    energy, axes = torch.linalg.eigh(few.mT @ few)
    values = torch.cat([few @ axes, torch.ones_like(few[..., :1])], dim=-1)
    wide = Rotated(values, axes, torch.cat([energy.clamp_min(0), torch.full((SPACES, 1), 9.0)], dim=-1))
    one, other = (fit_logistic(each, right, problems, tolerance=1e-7, most_steps=500) for each in (rotated(few), wide))
    torch.testing.assert_close(one[..., :-1], other[..., :-1], atol=1e-4, rtol=1e-3)


def test_ridge_equals_scikit_learn() -> None:
    given, _ = made()
    values = given[1] @ torch.arange(WIDTH, dtype=given.dtype) + 0.1 * given[0, :, 0]
    weights = ridge(rotated(given), values, (0.5, 20.0))
    for space in range(SPACES):
        for place, penalty in enumerate((0.5, 20.0)):
            model = Ridge(alpha=penalty).fit(given[space].numpy(), values.numpy())
            np.testing.assert_allclose(weights[space, place, :-1].numpy(), model.coef_, atol=1e-8)
            assert weights[space, place, -1].item() == pytest.approx(float(model.intercept_), abs=1e-8)


def test_rotation_changes_no_output() -> None:
    given, _ = made()
    turned: Rotated = rotated(given)
    weights = torch.randn(SPACES, 2, WIDTH + 1, dtype=given.dtype, generator=torch.Generator().manual_seed(0))
    straight = weights @ turned.values.mT
    torch.testing.assert_close(outputs(turned.back(weights), given), straight)


def group(raw: torch.Tensor, answers: np.ndarray, classes: int) -> CaseGroup:
    """A task on the cases in their order: the first half to train, a quarter to choose, a quarter to report."""
    ends = {"train": slice(0, 120), "choose": slice(120, 180), "report": slice(180, 240)}
    units = {part: np.arange(CASES)[rows, None] for part, rows in ends.items()}
    texts = {part: np.arange(CASES)[rows] for part, rows in ends.items()}
    return CaseGroup(units, texts, [Answers("task", classes, {part: answers[rows] for part, rows in ends.items()})])


def trained(raw: torch.Tensor, answers: np.ndarray, classes: int, **settings: object) -> TrainedTask:
    tables = [each.numpy().astype(np.float16) for each in raw]
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


def test_the_penalty_is_chosen_on_cases_for_choices_alone() -> None:
    raw, answers = planted(1)
    other = answers.copy()
    other[180:] = 1 - other[180:]
    one, two = (trained(raw, each, 2, penalties=(1.0, 100.0)) for each in (answers, other))
    np.testing.assert_array_equal(one.penalty, two.penalty)
    np.testing.assert_array_equal(one.choice, two.choice)
    np.testing.assert_array_equal(one.loss, 1 - two.loss)

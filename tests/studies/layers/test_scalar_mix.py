"""Mixes give the weight to the space that has the answers; closed forms of the centre of gravity and expected layer."""

import numpy as np
import torch
from scipy.special import rel_entr

from headscope.statistics.intervals import Score
from headscope.studies.layers.layers.groups import Answers, CaseGroup
from headscope.studies.layers.layers.scalar_mix import (
    _loss,
    _Mixes,
    centre_of_gravity,
    concentration,
    expected_layer,
    gain_concentration,
    mixes,
)
from headscope.studies.layers.layers.variables import interval_of_gains

CASES, WIDTH, SPACES = 400, 8, 4


def test_the_space_with_the_answers_has_the_weight_and_the_gain() -> None:
    random = np.random.default_rng(0)
    answers = random.integers(0, 3, CASES)
    tables = [random.normal(size=(CASES, WIDTH)).astype(np.float16) for _ in range(SPACES)]
    tables[2][:, :3] += 4 * np.eye(3, dtype=np.float16)[answers]
    rows = {"train": slice(0, 200), "choose": slice(200, 250), "report": slice(250, 400)}
    numbers = {part: answers[span] for part, span in rows.items()}
    group = CaseGroup(
        {part: np.arange(CASES)[span, None] for part, span in rows.items()},
        {part: np.arange(CASES)[span] for part, span in rows.items()},
        [Answers("task", 3, numbers), Answers("task", 3, numbers, control=True)],
    )
    mixed, of_control = mixes(group, tables, [1.0, 1.0], 0, torch.device("cpu"))
    assert mixed and of_control is None
    right = 1 - mixed.loss.mean(0)
    assert mixed.weights[2] > 0.5 and abs(mixed.weights.sum() - 1) < 1e-5
    assert right[1] < 0.5 < 0.9 < right[2]
    assert 1.5 < expected_layer(right) < 2.5


def test_scores_of_mixes_and_their_gradients_are_those_of_a_loop() -> None:
    torch.manual_seed(0)
    spaces, dims, classes, tasks = 3, 5, (3, 2, 2), (0, 1, 1)
    model = _Mixes(spaces, dims, classes, tasks)
    for parameter in model.parameters():
        parameter.data.normal_()
    given, right = torch.randn(7, spaces, dims), torch.tensor([[0, 2, 1, -1, 0, 1, 2], [0, 1, -1, 1, 0, 1, 0], [1] * 7])
    scores = model(given)
    _loss(scores, right, model.classes).backward()
    own = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    slow = torch.zeros_like(scores)
    for case in range(7):
        for last in range(spaces):
            for column, task in enumerate((0, 0, 0, 1, 1, 1, 1)):
                share = model.mix[last, task, : last + 1].softmax(0)
                mixed = torch.stack([share[space] * given[case, space] for space in range(last + 1)]).sum(0)
                slow[case, last, column] = mixed @ model.weights[:, last, column] + model.intercepts[last, column]
    torch.testing.assert_close(scores, slow, atol=1e-5, rtol=1e-5)
    total = torch.zeros(())
    for part, answers in zip(slow.split(classes, -1), right, strict=True):
        some = [case for case in range(7) if answers[case] >= 0]
        lengths = [part[case, :, answers[case]] - part[case].logsumexp(-1) for case in some]
        total = total - torch.stack(lengths).sum() / len(some)
    total.backward()
    for one, parameter in zip(own, model.parameters(), strict=True):
        torch.testing.assert_close(one, parameter.grad, atol=1e-5, rtol=1e-5)


def test_the_interval_of_an_expected_layer_is_that_of_its_resamples() -> None:
    random = np.random.default_rng(0)
    later = random.uniform(0.6, 0.9, 400)
    rising = Score(np.array([0.5, 0.75, 0.9]), np.stack([np.full(400, 0.5), later, np.full(400, 0.9)], axis=1), 50)
    expected = [(0.5 * 0 + (at - 0.5) * 1 + (0.9 - at) * 2) / 0.4 for at in later]
    np.testing.assert_allclose(interval_of_gains(rising), np.quantile(expected, [0.025, 0.975]))
    slow = [rel_entr([(at - 0.5) / 0.4, (0.9 - at) / 0.4], 0.5).sum() for at in later]
    np.testing.assert_allclose(interval_of_gains(rising, gain_concentration), np.quantile(slow, [0.025, 0.975]))
    falling = Score(rising.mean, np.where(np.arange(400)[:, None] < 40, 0.5, rising.resampled), 50)
    assert np.isnan(interval_of_gains(falling)).all()  # a tenth of the resamples has no gain
    assert np.isnan(interval_of_gains(Score(rising.mean, rising.resampled, 50, units=1))).all()


def test_concentration_is_a_divergence_from_equal_weights() -> None:
    weights = np.array([[0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3]])
    slow = [sum(weight * np.log(3 * weight) for weight in row) for row in weights]
    np.testing.assert_allclose(concentration(weights), slow, atol=1e-12)
    assert concentration(np.array([0.0, 1.0, 0.0])) == np.log(3)


def test_closed_forms() -> None:
    assert abs(centre_of_gravity(np.full(7, 1 / 7)) - 3) < 1e-12
    assert expected_layer(np.array([0.2, 0.2, 0.6, 0.6])) == 2
    assert np.isnan(expected_layer(np.array([0.9, 0.5, 0.9])))
    both = expected_layer(np.array([[0.0, 0.5, 1.0], [0.0, 1.0, 1.0]]))
    assert both.tolist() == [1.5, 1.0]

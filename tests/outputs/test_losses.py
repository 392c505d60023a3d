"""The loss of an example, for each kind of task."""

import numpy as np
import torch

from headscope.outputs.losses import losses


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_of_a_class():
    logits = random(5, 3)
    labels = (0, 2, 1, 1, 0)
    expected = [
        -np.log(np.exp(row[label]) / np.exp(row).sum()) for row, label in zip(logits.tolist(), labels, strict=True)
    ]
    found = losses("classification", logits, torch.tensor([float(label) for label in labels]))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_of_a_score():
    targets = torch.tensor([0.5, -1.0, 3.0])
    expected = [(row[0] - target) ** 2 for row, target in zip(random(3, 1).tolist(), targets.tolist(), strict=True)]
    np.testing.assert_allclose(losses("regression", random(3, 1), targets), expected, rtol=1e-5)


def test_of_masked_words_it_is_the_sum_over_them():
    logits, targets = random(2, 4, 6), torch.tensor([[-100, 5, -100, 0], [-100, -100, 2, -100]])
    expected = [0.0, 0.0]
    for example, token in np.argwhere(targets.numpy() >= 0):
        expected[example] -= float(logits[example, token].log_softmax(-1)[targets[example, token]])
    np.testing.assert_allclose(losses("masked", logits, targets), expected, rtol=1e-5)


def test_a_large_vocabulary_biases_no_loss():
    """`log_softmax` of torch is off by 1.5e-5 here, always in one direction."""
    logits, targets = 5 * random(8, 1, 262_144), torch.arange(8)[:, None]
    expected = logits.double().logsumexp(-1)[:, 0] - logits.double()[torch.arange(8), 0, targets[:, 0]]
    np.testing.assert_allclose(losses("masked", logits, targets), expected, atol=4e-6, rtol=0)


def test_low_precision_is_summed_in_float32_and_double_stays_double():
    targets = torch.tensor([1, 0])
    for dtype, expected in {torch.bfloat16: torch.float32, torch.float64: torch.float64}.items():
        assert losses("classification", random(2, 3).to(dtype), targets).dtype == expected

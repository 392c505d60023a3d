"""The shipped classifier on models that it has never seen, with heads of known pattern."""

import pytest
import torch

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier.grid import pool
from headscope.studies.heads.patterns.classifier.network import load
from support.planted_models import KINDS, Planted, attention_of, lightly_trained, planted_model

LENGTHS = (10, 16, 24, 33, 48, 64)


def pairs_of(planted: Planted, causal: bool, seed: int) -> list[tuple[str, str]]:
    """The planted and the told pattern of each head and length."""
    pairs = []
    for length in LENGTHS:
        attention = attention_of(planted, length, seed)
        classes = torch.tensor([[0, *[3] * (length - 2), 1]]) if not causal else torch.full((1, length), 3)
        found = load().classify(pool(attention[None], classes)[0]).argmax(-1)
        pairs += zip(planted.patterns, (PATTERNS[number] for number in found.tolist()), strict=True)
    return pairs


@pytest.mark.parametrize("kind", KINDS)
def test_planted_heads_of_other_models_are_told(kind: str) -> None:
    planted = [planted_model(kind, seed) for seed in range(3)]
    pairs = [pair for seed, model in enumerate(planted) for pair in pairs_of(model, kind == "gpt2", seed)]
    assert sum(planted == found for planted, found in pairs) / len(pairs) >= 0.95, [
        pair for pair in pairs if pair[0] != pair[1]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_so_are_they_after_light_training(kind: str) -> None:
    before = planted_model(kind)
    after = lightly_trained(planted_model(kind))
    changed = (attention_of(before, 24, 0) - attention_of(after, 24, 0)).abs().amax((1, 2))
    assert changed.min() > 0.01
    pairs = pairs_of(after, kind == "gpt2", 0)
    assert sum(planted == found for planted, found in pairs) / len(pairs) >= 0.9, [
        pair for pair in pairs if pair[0] != pair[1]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_is_there(kind: str) -> None:
    attention = attention_of(planted_model(kind), 24, 0)
    torch.testing.assert_close(attention.sum(-1), torch.ones(8, 24))
    assert attention[0, 8:, 0].mean() > 0.6
    assert attention[2].diagonal(-1)[4:].mean() > 0.6
    assert attention[6, 12:].max() < 0.2
    assert (attention.triu(1).sum() == 0) == (kind == "gpt2")

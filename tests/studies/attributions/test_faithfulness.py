"""Faithfulness beside closed forms, and the target of blanked inputs beside single forward passes."""

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from headscope import wrap
from headscope.capture.attention_switch import switchable
from headscope.studies.words.attributions.blanking import Blanking, blank_token
from headscope.studies.words.attributions.faithfulness import (
    SHARES,
    comprehensiveness,
    faithfulness,
    sufficiency,
    top_counts,
)
from headscope.studies.words.attributions.targets import Target
from support.tiny import tiny_bert, tiny_tokenizer

WEIGHTS = np.array([4.0, 1.0, 3.0, 0.0, 2.0, 9.0, 6.0, 5.0, 8.0, 7.0])


def additive(blanked: np.ndarray) -> np.ndarray:
    """A target to which each token adds its weight."""
    assert len(np.unique(blanked, axis=0)) == len(blanked)
    return (~blanked) @ WEIGHTS


def test_curves_of_an_additive_target_have_closed_forms() -> None:
    importance = np.stack([WEIGHTS, -WEIGHTS, np.full(10, np.nan)])[:, None]
    rows = faithfulness(importance, additive, index=3, seed=0)
    counts = top_counts(10)
    assert counts.tolist() == [1, 2, 3, 5, 7]
    best = np.array([np.sort(WEIGHTS)[::-1][:count].sum() for count in counts])
    worst = np.array([np.sort(WEIGHTS)[:count].sum() for count in counts])
    np.testing.assert_allclose(rows.deletion[0, :2, 0], [45 - best, 45 - worst])
    np.testing.assert_allclose(rows.insertion[0, :2, 0], [best, worst])
    np.testing.assert_allclose(rows.correlation[0, :, 0], [1, -1, np.nan])
    np.testing.assert_allclose(comprehensiveness(rows)[0, :, 0], [best.mean(), worst.mean(), np.nan])
    np.testing.assert_allclose(sufficiency(rows)[0, :, 0], [45 - best.mean(), 45 - worst.mean(), np.nan])
    assert (
        rows.full.tolist() == [45] and rows.nothing.tolist() == [0] and rows.index.tolist() == rows.unit.tolist() == [3]
    )


def test_random_orders_lie_between_and_depend_on_seed_and_input_alone() -> None:
    one, same, other = (faithfulness(WEIGHTS[None, None], additive, index, seed=0) for index in (1, 1, 2))
    assert np.array_equal(one.random_deletion, same.random_deletion)
    assert not np.array_equal(one.random_deletion, other.random_deletion)
    # What is deleted at one share is what is inserted at it.
    np.testing.assert_allclose(45 - one.random_deletion, one.random_insertion)
    many = np.mean(
        [faithfulness(WEIGHTS[None, None], additive, index, 0).random_insertion[0] for index in range(200)], 0
    )
    np.testing.assert_allclose(many, 4.5 * top_counts(10), rtol=0.05)


@pytest.mark.parametrize("tokens", [1, 2])
def test_inputs_of_one_and_two_tokens_have_scores(tokens: int) -> None:
    rows = faithfulness(np.ones((1, 1, tokens)), lambda blanked: (~blanked).sum(1).astype(float), 0, 0)
    assert rows.deletion.shape == (1, 1, 1, len(SHARES)) and np.isnan(rows.correlation).all()


@pytest.mark.parametrize("blank", ["mask", "unknown", "hidden"])
def test_blanked_inputs_equal_single_passes(blank: str) -> None:
    tokenizer = tiny_tokenizer()
    model = wrap(tiny_bert(0, BertForSequenceClassification, num_labels=3), tokenizer)
    ids = tokenizer("the cat saw it.")["input_ids"]
    candidates, length = torch.arange(1, len(ids) - 1), len(ids)
    inputs = {"input_ids": torch.tensor(ids), "token_type_ids": torch.zeros(length, dtype=torch.long)}
    with torch.no_grad():
        reference = model.network(input_ids=torch.tensor([ids])).logits.log_softmax(-1)
    blanked = np.random.default_rng(0).random((7, len(candidates))) < 0.5
    token = blank_token(model, blank)  # pyright: ignore[reportArgumentType]
    with switchable(model.network):
        blanking = Blanking(model, Target("class"), token, batch_tokens=3 * length)
        found = blanking.scores(inputs, candidates, torch.tensor(0), reference, blanked)
    for score, row in zip(found, blanked, strict=True):
        hidden = {1 + position for position in np.flatnonzero(row)}
        changed = [token if position in hidden and token is not None else piece for position, piece in enumerate(ids)]
        seen = [int(not (token is None and position in hidden)) for position in range(length)]
        with torch.no_grad():
            logits = model.network(torch.tensor([changed]), attention_mask=torch.tensor([seen])).logits
        assert score == pytest.approx(float(logits.softmax(-1)[0, reference.argmax()]), abs=1e-6)

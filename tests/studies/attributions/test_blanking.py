"""Passes over blanked copies by a part of the network, beside whole passes; the steps of the progress bar."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification, GPT2LMHeadModel, PreTrainedModel

from headscope import Settings, wrap
from headscope.corpora import read
from headscope.studies.words.attributions.blanking import Blanking, Shortcut, blank_token, fastest, full_network
from headscope.studies.words.attributions.explaining_pass import explainer, sample_of
from headscope.studies.words.attributions.study import run
from headscope.studies.words.attributions.targets import Pooling, target_of
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer


@pytest.mark.parametrize("blank", ["mask", "hidden"])
@pytest.mark.parametrize(
    ("network", "pooling", "last"),
    [
        (tiny_bert(), "mean", ""),
        (tiny_bert(), "first", "layer"),
        (tiny_bert(0, BertForSequenceClassification, num_labels=3), "mean", "layer"),
        (tiny_bert(0, BertForMaskedLM), "mean", "layer"),
        (tiny_gpt2(0, GPT2LMHeadModel), "mean", "head"),
    ],
    ids=["mean", "first token", "classifier", "masked words", "decoder"],
)
def test_the_fastest_passes_equal_whole_ones(network: PreTrainedModel, pooling: Pooling, last: str, blank: Any) -> None:
    tokenizer = tiny_tokenizer()
    model = wrap(network, tokenizer)
    ids, target = torch.tensor(tokenizer("the cat saw it by the house.")["input_ids"]), target_of(model, pooling)
    position, candidates = torch.tensor(len(ids) - 2), torch.arange(1, len(ids) - 2)
    blanked = np.random.default_rng(0).random((9, len(candidates))) < 0.5
    with explainer(model, target) as explain:
        blanking = Blanking(model, target, blank_token(model, blank), batch_tokens=4 * len(ids))
        shortcut: Any = fastest(explain.stack, explain.projections, target, blanking.trial)
        assert (shortcut.last, shortcut.once) == (last, True)
        with torch.no_grad():
            reference = target.vectors(network(ids[None]), torch.ones(1, len(ids)), position[None])
        expected, found = (
            replace(blanking, shortcut=parts).scores({"input_ids": ids}, candidates, position, reference, blanked)
            for parts in (full_network, shortcut)
        )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert len(np.unique(found.round(6))) > 1


def test_a_shortcut_that_is_not_exact_is_not_taken() -> None:
    model = wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    with explainer(model, target := target_of(model)) as explain:
        blanking = Blanking(model, target, 4, batch_tokens=64)

        def trial(shortcut: Shortcut) -> torch.Tensor:
            other = getattr(shortcut, "last", "") == "layer"
            return blanking.trial(shortcut) + other

        shortcut: Any = fastest(explain.stack, explain.projections, target, trial)
    assert shortcut.last == "head"


def test_scored_inputs_are_steps_of_the_bar() -> None:
    model, steps, totals = wrap(tiny_bert(), tiny_tokenizer()), list[int](), list[int]()
    settings = Settings(resamples=20, on_progress=steps.append, on_total=totals.append)
    run(model, read(["the cat saw it.", "the dog ran", "she said that"]), settings, scored=2, flow=0, altered=1)
    assert totals == [3 + 3 * sample_of(3, 2, 0, 0, 1).steps] and sum(steps) == totals[0] > 40


class Announced(Exception):
    """What takes the time is said, and has not begun."""


@pytest.mark.parametrize(
    ("tokens", "options", "scored", "altered"),
    [(32, {}, 12, 0), (5, {}, 15, 0), (32, {"full": True}, 15, 0), (32, {"scored": 0, "altered": 60}, 0, 40)],
)
def test_of_long_inputs_fewer_are_scored_and_one_line_says_so(
    tokens: int, options: dict[str, Any], scored: int, altered: int
) -> None:
    """An input of 32 tokens is scored by 640 passes: 260,000 tokens are 12 of them."""
    lines, totals = list[str](), list[int]()

    def said(line: str) -> None:
        lines.append(line)
        raise Announced

    inputs = max(15, options.get("altered", 0))
    corpus = read([" ".join(["the dog ran"] * 10)[: 4 * (tokens - 2) - 1]] * inputs)
    settings = Settings(resamples=20, on_notice=said, on_total=totals.append)
    asked: dict[str, Any] = {"flow": 0, "altered": 0} | options
    with pytest.raises(Announced):
        run(wrap(tiny_bert(), tiny_tokenizer()), corpus, settings, **asked)
    assert totals == [inputs + 3 * sample_of(inputs, scored, 0, 0, altered).steps]
    expected = {12: "12 of 15 inputs are scored", 0: "attention is altered in 40 of 60 inputs, and head by head in 0"}
    assert lines[0].startswith(expected.get(scored, "15 inputs are scored"))

"""The loss of the second copy without each head, beside a loop over heads with hooks."""

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import Settings, wrap
from headscope.report.study_page import study_page
from headscope.studies.heads.induction.causal_effect import causal_effect
from headscope.studies.heads.induction.made_inputs import maker
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

COPY, HEADS, WIDTH = 5, 4, 6
QUICK: dict[str, Any] = {"sequences": 3, "copy": 4, "contexts": "8", "texts": 2, "tokens": 20, "progress": False}


def replaced(part: slice, mean: torch.Tensor, module: Any, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor]:
    """The contexts of a layer with those of one head replaced."""
    changed = args[0].clone()
    changed[..., part] = mean
    return (changed,)


@torch.inference_mode()
def naive_losses(network: Any, ids: torch.Tensor, start: int) -> tuple[float, np.ndarray]:
    """The loss of the second copy, and that with each head replaced by its mean, one hook after the other."""
    entered: list[torch.Tensor] = []
    outputs = [layer.attn.c_proj for layer in network.transformer.h]
    hooks = [module.register_forward_pre_hook(lambda _, args: entered.append(args[0])) for module in outputs]

    def loss() -> float:
        logs = network(ids).logits.log_softmax(-1)
        places = range(start + COPY + 1, start + 2 * COPY)
        return -float(np.mean([[float(logs[row, at - 1, ids[row, at]]) for at in places] for row in range(len(ids))]))

    plain = loss()
    for hook in hooks:
        hook.remove()
    without = np.zeros((len(outputs), HEADS))
    for layer, (module, contexts) in enumerate(zip(outputs, entered, strict=True)):
        for head in range(HEADS):
            part = slice(head * WIDTH, (head + 1) * WIDTH)
            hook = module.register_forward_pre_hook(partial(replaced, part, contexts[..., part].mean((0, 1))))
            without[layer, head] = loss()
            hook.remove()
    return plain, without


def test_the_rise_is_that_of_a_loop_over_heads() -> None:
    model = wrap(tiny_gpt2(0, GPT2LMHeadModel), tiny_tokenizer())
    made = maker(model, 0)
    repeated, start = made.repeated(4, COPY, 2), len(made.before)
    predicted = list[int]()
    hook = model.network.lm_head.register_forward_pre_hook(lambda _, args: predicted.append(args[0].shape[1]))
    found = causal_effect(model, repeated, start, COPY, Settings(resamples=20))
    hook.remove()
    assert predicted[-1] == COPY - 1  # the words of the second copy alone, which take as long as the layers
    ids = torch.from_numpy(np.stack([encoded.inputs["input_ids"] for encoded in repeated]))
    plain, without = naive_losses(model.network, ids, start)
    assert not isinstance(found, str)
    assert float(found["copy_loss"]) == pytest.approx(plain, abs=1e-5)
    np.testing.assert_allclose(found["copy_loss_rise"], without - plain, atol=1e-5)


def test_the_page_says_what_repetition_loses_and_a_masked_model_has_no_next_word() -> None:
    causal = wrap(tiny_gpt2(0, GPT2LMHeadModel), tiny_tokenizer())
    result = headscope.induction(causal, ["the cat sat"] * 2, **QUICK)
    texts = [finding.text for finding in study_page(result).findings()]
    assert any("With head" in text and "it rises most without" in text for text in texts)
    masked = wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    result = headscope.induction(masked, ["the cat sat"] * 2, **QUICK)
    assert "copy_loss_rise" not in result
    reason = "it has no head that predicts the next word from those before it"
    assert json.loads(result.attrs["left_out"])["causal effect"] == reason


@pytest.mark.parametrize("network", [tiny_gpt2(0, GPT2LMHeadModel), tiny_bert(0, BertForMaskedLM)])
def test_progress_reaches_the_announced_total(network: Any) -> None:
    done, total = list[int](), list[int]()
    settings = Settings(resamples=20, on_progress=done.append, on_total=total.append)
    headscope.induction(wrap(network, tiny_tokenizer()), headscope.read(["a cat ran"]), settings, **QUICK)
    assert total == [sum(done)]

"""Models are loaded with the head that makes predictions; a pass that takes too long leaves them as they were."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    BartForConditionalGeneration,
    BertForMaskedLM,
    BertForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedModel,
)

from headscope import models
from headscope.models.checkpoint import locate
from headscope.viewer.interventions import Interventions
from headscope.viewer.loading import TimeUp, load_with_head, time_limit
from headscope.viewer.text_maps import text_maps
from headscope.viewer.text_tokens import text_tokens
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

MODELS = {
    "mask": lambda: tiny_bert(kind=BertForMaskedLM),
    "task": lambda: tiny_bert(kind=BertForSequenceClassification),
    "neighbours": tiny_bert,
    "next": lambda: tiny_gpt2(kind=GPT2LMHeadModel),
    "neighbours, decoder": tiny_gpt2,
    "neighbours, encoder of two": lambda: _bart(),
}


def _bart() -> PreTrainedModel:
    config = tiny_config("bart", vocab_size=len(tiny_vocabulary()))
    return tiny_network(config, kind=BartForConditionalGeneration)


@pytest.mark.parametrize("name", MODELS)
def test_the_head_of_a_model_is_kept(name: str, tmp_path: Path) -> None:
    save_tiny(tmp_path, MODELS[name]())
    model = load_with_head(locate(str(tmp_path)), device="cpu")
    assert Interventions(model).kind == name.partition(",")[0]


def test_a_pass_ends_once_the_time_is_over(clock: list[float]) -> None:
    model = models.wrap(tiny_bert(), tiny_tokenizer())
    text = text_tokens(model.tokenizer, 64, "The old cat sat.")
    expected = text_maps(model, text).levels
    encoder: Any = model.network.encoder
    late = encoder.layer[1].register_forward_pre_hook(lambda *_: clock.append(clock.pop() + 100))
    with pytest.raises(TimeUp, match="longer than 60 s"), time_limit(model.network, 60):
        text_maps(model, text)
    late.remove()
    assert not any(module._forward_pre_hooks for module in model.network.modules())
    assert torch.equal(torch.from_numpy(text_maps(model, text).levels), torch.from_numpy(expected))

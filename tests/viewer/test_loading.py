"""Models are loaded with the head that makes predictions, if they have one."""

from pathlib import Path

import pytest
from transformers import (
    BartForConditionalGeneration,
    BertForMaskedLM,
    BertForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedModel,
)

from headscope.models.checkpoint import locate
from headscope.viewer.interventions import Interventions
from headscope.viewer.loading import load_with_head
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_network, tiny_vocabulary
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

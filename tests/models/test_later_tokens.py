"""A head for the next word is read as one only where no prediction changes with later words, whatever its class is."""

from typing import Any

import pytest
from torch import Tensor, nn
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertLMHeadModel,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    XLNetConfig,
    XLNetLMHeadModel,
)

import headscope
from headscope.errors import HeadscopeError
from headscope.models.prediction_heads import is_causal, no_words, refuse_without_words_head
from headscope.outputs.words.predictor import WordPredictor
from headscope.studies.layers.lens.reading import layer_reader
from headscope.studies.words.attributions.targets import target_of
from headscope.viewer.interventions import Interventions
from support.tiers import in_turn
from support.tiny import tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

WORDS = len(tiny_vocabulary())
SIZES: dict[str, Any] = {
    "vocab_size": WORDS, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
}  # fmt: skip
BOTH_SIDES: dict[str, Any] = SIZES | {"is_causal": False}
XLNET = XLNetConfig(vocab_size=WORDS, d_model=16, n_layer=2, n_head=2, d_inner=24)
SEEING = {
    "xlnet": (XLNetLMHeadModel, XLNET, "answers; name another model"),
    "bert": (BertLMHeadModel, BertConfig(**SIZES), "set is_decoder and is_causal in config.json"),
    "llama": (LlamaForCausalLM, LlamaConfig(**BOTH_SIDES), "set is_decoder and is_causal in"),
}
CAUSAL = ["biogpt", "bloom", "codegen", "falcon", "gemma3_text", "gpt2", "gpt_neo", "llama", "qwen3", "opt", "xglm"]


def model_of(kind: type, config: Any) -> headscope.Model:
    return headscope.wrap(tiny_network(config, kind=kind), tiny_tokenizer())


@pytest.mark.parametrize("name", SEEING)
def test_a_head_that_sees_what_it_predicts_is_refused(name: str) -> None:
    kind, config, remedy = SEEING[name]
    model = model_of(kind, config)
    assert model.looks_ahead and not is_causal(model)
    for read in (refuse_without_words_head, WordPredictor, layer_reader, target_of):
        with pytest.raises(HeadscopeError) as error:
            read(model)
        assert f"its {kind.__name__} has a head for the next word and attends to later words" in str(error.value)
        assert remedy in str(error.value)
    assert Interventions(model).kind == "neighbours"
    lines: list[str] = []
    settings = headscope.Settings(resamples=5, on_notice=lines.append)
    result = headscope.profile(model, ["The cat sat."], settings, predicted_frequency=True, examples=0)
    assert result.attrs["not_measured"] == no_words(model) and no_words(model) in lines[-1]


def test_the_remedy_works() -> None:
    assert is_causal(model_of(BertLMHeadModel, BertConfig(**SIZES, is_decoder=True)))
    assert is_causal(model_of(LlamaForCausalLM, LlamaConfig(**SIZES)))


@pytest.mark.parametrize("family", in_turn(CAUSAL))
def test_causal_families_are_read_as_they_were(family: str) -> None:
    model = model_of(AutoModelForCausalLM, tiny_config(family))
    assert not model.looks_ahead and is_causal(model) and no_words(model) == ""


def test_later_tokens_that_come_in_without_attention_are_found() -> None:
    class Mixed(nn.Module):
        """Adds a part of the next token's state to each."""

        def forward(self, states: Tensor) -> Tensor:
            return states + states.roll(-1, 1) / 8

    network: Any = tiny_gpt2(kind=GPT2LMHeadModel)
    network.transformer.drop = Mixed()
    model = headscope.wrap(network.eval(), tiny_tokenizer())
    assert not model.capture.looks_ahead and model.looks_ahead and not is_causal(model)

"""Hidden states are those that transformers returns, without a task head."""

from typing import Any

import pytest
import torch
from transformers import BertForMaskedLM, PreTrainedModel

import headscope
from headscope.errors import HeadscopeError
from headscope.passes.forward import hidden_states, normalised_at_the_end
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer
from support.tiny_families import EXACT, tiny_config

INPUTS = {"input_ids": torch.tensor([[2, 7, 9, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}


@pytest.mark.parametrize("network", [tiny_bert(), tiny_gpt2()], ids=["bert", "gpt2"])
def test_one_for_the_embeddings_and_one_for_each_layer(network: PreTrainedModel) -> None:
    with torch.inference_mode():
        states = hidden_states(network, INPUTS)
        output = network(**INPUTS)
    assert len(states) == network.config.num_hidden_layers + 1
    assert torch.equal(states[-1], output.last_hidden_state)
    assert not torch.equal(states[0], states[1])


def test_a_task_head_is_not_run() -> None:
    network = tiny_bert(0, BertForMaskedLM)
    network.set_submodule("cls", Broken())
    with torch.inference_mode():
        states = hidden_states(network, INPUTS)
        assert torch.equal(states[-1], network.base_model(**INPUTS).last_hidden_state)


@pytest.mark.parametrize("model_type", sorted(EXACT.keys() & {"embedding_gemma2_text", "opt"}))
def test_the_last_states_are_those_before_a_map_to_another_width(model_type: str) -> None:
    network: Any = tiny_network(tiny_config(model_type, **({"word_embed_proj_dim": 16} if model_type == "opt" else {})))
    final, entered = (network.decoder.project_out if model_type == "opt" else network.embedding_projection), []
    handle = final.register_forward_hook(lambda _, given, made: entered.append(given[0]))
    with torch.inference_mode():
        output = network(**INPUTS, output_hidden_states=True)
        handle.remove()
        states = hidden_states(network, INPUTS)
    assert {state.shape[-1] for state in states} == {32} and output.last_hidden_state.shape[-1] == 16
    assert len(states) == network.config.num_hidden_layers + 1 and torch.equal(states[-1], entered[0])
    for ours, theirs in zip(states[:-1], output.hidden_states[:-1], strict=True):
        assert torch.equal(ours, theirs)


def test_layers_of_different_widths_are_refused() -> None:
    uneven: Any = Uneven(tiny_bert())
    with pytest.raises(HeadscopeError, match="different widths"), torch.inference_mode():
        hidden_states(uneven, INPUTS)


class Broken(torch.nn.Module):
    """A task head that must not be run."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        raise AssertionError("the task head was run")


class Uneven(torch.nn.Module):
    """A network whose last layer is narrower."""

    def __init__(self, network: PreTrainedModel):
        super().__init__()
        self.network, self.config = network, network.config

    @property
    def base_model(self) -> "Uneven":
        return self

    def forward(self, **inputs: torch.Tensor) -> object:
        output = self.network(**inputs)
        output.hidden_states = (*output.hidden_states[:-1], output.hidden_states[-1][..., :4])
        return output


def test_the_last_states_of_a_decoder_are_behind_its_final_normalisation() -> None:
    assert normalised_at_the_end(headscope.wrap(tiny_gpt2(), tiny_tokenizer()))
    assert not normalised_at_the_end(headscope.wrap(tiny_bert(), tiny_tokenizer()))

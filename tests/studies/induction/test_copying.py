"""Copying: planted circuits, and the circuit multiplied out as it is defined."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, GPT2LMHeadModel, PreTrainedModel

import headscope
from headscope import Settings, read, wrap
from headscope.studies.heads.induction import study
from headscope.studies.heads.induction.copying import Copying, circuit, copying_of
from headscope.studies.heads.induction.value_norms import value_norms
from support.repeating import with_window
from support.tiny import byte_tokenizer, tiny_bert, tiny_gpt2, tiny_tokenizer
from support.written_gguf import tiny_decoder

TOKENS = np.arange(5, 95)


def test_a_head_that_writes_what_it_reads_copies() -> None:
    states = torch.randn(40, 12, generator=torch.Generator().manual_seed(0)).double()
    states -= states.mean(0)
    own, most, eigenvalues, p = circuit(states[:, :6], torch.eye(12, 6).double(), states)
    assert own.mean() == 1 and most.mean() > 0.3 and eigenvalues == pytest.approx(1) and p < 1e-6


def test_a_head_that_writes_the_opposite_does_not() -> None:
    states = torch.randn(40, 12, generator=torch.Generator().manual_seed(0)).double()
    own, _, eigenvalues, p = circuit(states[:, :6], -torch.eye(12, 6).double(), states - states.mean(0))
    assert own.mean() == 0 and eigenvalues < -0.9 and p > 1 - 1e-6


def test_the_p_value_of_outputs_turned_at_random_is_uniform() -> None:
    generator = torch.Generator().manual_seed(0)
    values, output = (torch.randn(60, width, generator=generator).double() for width in (4, 16))
    mixed = torch.randn(300, 16, 4, generator=generator).double()
    p = np.array([circuit(values, matrix, output - output.mean(0))[3] for matrix in mixed])
    assert abs(np.mean(p < 0.05) - 0.05) < 0.03 and abs(np.mean(p < 0.5) - 0.5) < 0.08


def naive_gpt2(network: Any) -> Copying:
    """The circuit of each head, from the weights of a GPT-2."""
    embedded = network.transformer.wte.weight[TOKENS].detach().double()
    last = network.transformer.ln_f
    unembedded = embedded * last.weight.double()
    unembedded = unembedded - unembedded.mean(1, keepdim=True)
    unembedded = unembedded - unembedded.mean(0)
    rows = []
    for layer in network.transformer.h:
        states = layer.ln_1(embedded.float()).double()
        width = states.shape[1]
        for head in range(4):
            part = slice(head * width // 4, (head + 1) * width // 4)
            reads = layer.attn.c_attn.weight[:, 2 * width :][:, part].double()
            writes = layer.attn.c_proj.weight[part].double()
            logits = (states - states.mean(0)) @ reads @ writes @ unembedded.T
            own = torch.diagonal(logits)
            found = torch.linalg.eigvals((states - states.mean(0)).T @ unembedded @ (reads @ writes).T)
            most = (logits.argmax(1) == torch.arange(len(TOKENS))).numpy()
            rows.append(((own > 0).numpy(), most, float(found.real.sum() / found.abs().sum())))
    own, most, eigenvalues = zip(*rows, strict=True)
    return Copying(np.stack(own, 1), np.stack(most, 1), np.array(eigenvalues), np.zeros(8))


def test_the_circuit_of_gpt2_is_that_of_its_weights() -> None:
    network = tiny_gpt2(0, GPT2LMHeadModel)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "ln_" in name:
                weight.add_(0.3 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(name))))
        found, naive = copying_of(wrap(network, tiny_tokenizer()), TOKENS), naive_gpt2(network)
    assert isinstance(found, Copying)
    np.testing.assert_array_equal(found.own, naive.own)
    np.testing.assert_array_equal(found.most, naive.most)
    np.testing.assert_allclose(found.eigenvalues, naive.eigenvalues, atol=1e-5)


@pytest.mark.parametrize("network", [tiny_bert(0, BertForMaskedLM), with_window(8)], ids=["masked", "grouped keys"])
def test_other_models_with_output_embeddings_have_a_circuit(network: PreTrainedModel) -> None:
    found = copying_of(wrap(network, tiny_tokenizer()), TOKENS)
    assert isinstance(found, Copying) and found.own.shape == (90, sum(wrap(network, tiny_tokenizer()).capture.heads))
    assert 0 < found.own.mean() < 1


@pytest.mark.parametrize("width", [16, 32])
def test_norms_of_queries_and_keys_as_wide_as_a_head_are_no_norm_of_the_layer(width: int) -> None:
    """Qwen 3: the circuit token by token and head by head, each head with its own values of two."""
    network: Any = tiny_decoder("qwen3", head_dim=width)
    with torch.inference_mode():
        found = copying_of(wrap(network, byte_tokenizer()), TOKENS)
        assert isinstance(found, Copying)
        output = network.lm_head.weight[TOKENS] * network.model.norm.weight
        output = output - output.mean(0)
        for number, layer in enumerate(network.model.layers):
            entering = layer.input_layernorm(network.model.embed_tokens.weight[TOKENS])
            for head in range(4):
                at = head // 2 * width
                values = entering @ layer.self_attn.v_proj.weight[at : at + width].T
                written = (values - values.mean(0)) @ layer.self_attn.o_proj.weight[:, head * width :][:, :width].T
                own = [float(written[token] @ output[token]) > 0 for token in range(len(TOKENS))]
                np.testing.assert_array_equal(found.own[:, number * 4 + head], own)


def test_weights_of_a_normalisation_behind_attention_count() -> None:
    """Gemma 3 normalises what attention writes: token by token and head by head."""
    network: Any = tiny_decoder("gemma3", head_dim=16, num_attention_heads=4, num_key_value_heads=4)
    with torch.inference_mode():
        for layer in network.model.layers:
            norm = layer.post_attention_layernorm.weight
            norm.copy_(2 * torch.randn(norm.shape, generator=torch.Generator().manual_seed(1)))
        found = copying_of(wrap(network, byte_tokenizer()), TOKENS)
        assert isinstance(found, Copying)
        output = network.lm_head.weight[TOKENS] * (1 + network.model.norm.weight)
        output = output - output.mean(0)
        for number, layer in enumerate(network.model.layers):
            entering = layer.input_layernorm(network.model.embed_tokens(torch.tensor(TOKENS)))
            for head in range(4):
                values = entering @ layer.self_attn.v_proj.weight[head * 16 : head * 16 + 16].T
                written = (values - values.mean(0)) @ layer.self_attn.o_proj.weight[:, head * 16 : head * 16 + 16].T
                written = written * (1 + layer.post_attention_layernorm.weight)
                own = [float(written[token] @ output[token]) > 0 for token in range(len(TOKENS))]
                np.testing.assert_array_equal(found.own[:, number * 4 + head], own)


def test_a_part_that_cannot_be_measured_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("sizes differ")

    monkeypatch.setattr(study, "value_norms", fail)
    model = wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    result = headscope.induction(model, ["the cat sat"] * 2, sequences=2, copy=4, contexts="8", texts=2, tokens=20)
    assert "attention" in result and "value_norm" not in result
    reason = "it cannot be measured in this model: sizes differ"
    assert json.loads(result.attrs["left_out"])["value norms"] == reason


def test_a_model_without_output_embeddings_has_no_circuit() -> None:
    assert copying_of(wrap(tiny_bert(), tiny_tokenizer()), TOKENS) == "the model has no output embeddings"


def test_norms_are_those_of_values_through_the_output_projection() -> None:
    """The ratio of one input of the first layer of a BERT, multiplied out."""
    network: Any = tiny_bert()
    model, corpus = wrap(network, tiny_tokenizer()), read(["the cat sat , and the dog ran ."])
    found = value_norms(model, corpus, Settings(resamples=2))
    inputs = model.tokenizer("the cat sat , and the dog ran .", return_tensors="pt")
    with torch.inference_mode():
        states = network(**inputs, output_hidden_states=True).hidden_states[0][0]
        attention = network.encoder.layer[0].attention
        values = attention.self.value(states).unflatten(-1, (4, 6))
        output = attention.output.dense.weight.unflatten(1, (4, 6))
        lengths = torch.einsum("khw,dhw->khd", values, output).norm(dim=-1).numpy()  # [key, head]
    ids = model.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    stops = [number for number, piece in enumerate(ids) if piece in (".", ",")]
    rest = [number for number in range(1, len(ids) - 1) if number not in stops]
    assert not isinstance(found, str)
    for focus, positions in enumerate(([0], [len(ids) - 1], stops)):
        naive = lengths[positions].mean(0) / lengths[rest].mean(0)
        np.testing.assert_allclose(found.mean[:4, focus], naive, rtol=1e-4)


def test_norms_count_the_weights_of_a_normalisation_behind_attention() -> None:
    """The first token of one input of the first layer of a Gemma 3, multiplied out; its weights are to be trained."""
    network: Any = tiny_decoder("gemma3", head_dim=16, num_attention_heads=4, num_key_value_heads=4)
    layer = network.model.layers[0]
    with torch.no_grad():
        norm = layer.post_attention_layernorm.weight
        norm.copy_(torch.randn(norm.shape, generator=torch.Generator().manual_seed(1)))
    model = wrap(network.model, byte_tokenizer())
    found = value_norms(model, read(["the cat sat"]), Settings(resamples=2))
    with torch.inference_mode():
        entering = layer.input_layernorm(
            network.model.embed_tokens(torch.tensor(model.tokenizer("the cat sat").input_ids))
        )
        values = layer.self_attn.v_proj(entering).unflatten(-1, (4, 16))
        written = torch.einsum("khw,dhw->khd", values, layer.self_attn.o_proj.weight.unflatten(1, (4, 16)))
        lengths = (written * (1 + norm)).norm(dim=-1).numpy()  # [key, head]
    assert not isinstance(found, str)
    np.testing.assert_allclose(found.mean[:4, 0], lengths[0] / lengths[1:].mean(0), rtol=1e-4)

"""The mean output of each head: against a loop over examples, tokens and heads."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import DebertaV2Config

import headscope
from headscope import HeadscopeError, Model, Settings
from headscope.ablation.strategies import head_means
from headscope.capture.projections import at_contexts
from headscope.corpora import Options, read
from headscope.models.heads import parse
from headscope.outputs.task_inputs import encode_for_task
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_family

DEBERTA: dict[str, Any] = {
    "vocab_size": len(tiny_vocabulary()),
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
}
MODELS = {"bert": tiny_bert, "gpt2": tiny_gpt2, "deberta-v2": lambda: tiny_network(DebertaV2Config(**DEBERTA))}


def model_of(name: str) -> Model:
    return headscope.wrap(MODELS[name](), tiny_tokenizer())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("batch_tokens", [1, 300])
def test_each_real_token_weighs_the_same(name: str, batch_tokens: int):
    model = model_of(name)
    inputs, _ = encode_for_task(model, read("sample", Options(limit=12)))
    outputs: dict[tuple[int, int], list[np.ndarray]] = {}

    def keep(layer: int, contexts: torch.Tensor) -> None:
        for token in contexts[0].tolist():
            for head in range(4):
                outputs.setdefault((layer, head), []).append(np.array(token[head * 6 : head * 6 + 6]))

    with torch.inference_mode(), at_contexts(model.network, model.projections, keep):
        for encoded in inputs:
            model.network(**{name: torch.from_numpy(values)[None] for name, values in encoded.inputs.items()})
    progress: list[int] = []
    found = head_means(model, inputs, Settings(batch_tokens=batch_tokens, on_progress=progress.append))
    assert sum(progress) == len(inputs)
    assert found.shape == (len(model.projections), 4, 6)
    for (layer, head), vectors in outputs.items():
        assert len(vectors) == sum(map(len, inputs))
        np.testing.assert_allclose(found[layer, head], np.mean(vectors, axis=0), rtol=1e-5, atol=1e-6)


def test_they_take_the_place_of_a_disabled_head():
    model = model_of("bert")
    inputs, _ = encode_for_task(model, read("sample", Options(limit=5)))
    means, given = head_means(model, inputs), []
    with model.changed(parse("2-3", model.capture.heads), "mean", means):
        handle = model.projections[1].output.register_forward_pre_hook(lambda module, args: given.append(args[0]))
        with torch.inference_mode():
            model.network(**{name: torch.from_numpy(values)[None] for name, values in inputs[0].inputs.items()})
        handle.remove()
    found = given[0][0].unflatten(-1, (4, 6))
    np.testing.assert_allclose(found[:, 2], np.tile(means[1, 2], (len(found), 1)), atol=1e-6)
    assert (found[:, [0, 1, 3]].std(0) > 1e-3).all()


def test_a_model_whose_maps_are_not_known_is_refused():
    model = headscope.wrap(tiny_family("xlnet"), tiny_tokenizer())
    with pytest.raises(
        HeadscopeError, match="model type 'xlnet': the linear maps of its attention cannot be identified"
    ):
        head_means(model, [])

"""The linear maps of attention: found in every family that has them, in call order, with each head in its place."""

from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

import headscope
from capture.test_families import capture_of, captured, inputs_of, network_of
from headscope import HeadscopeError
from headscope.capture import projections as projections_module
from headscope.capture.projections import Projections, at_contexts, projections
from headscope.capture.self_check import CAPTURES, check
from headscope.capture.transformers_logging import quiet
from support.tiers import in_turn
from support.tiny import tiny_bert, tiny_tokenizer
from support.tiny_families import EXACT

# Heads beside a convolution; quantised maps; convolutions of width 1; products of weights that are no modules.
WITHOUT = ("convbert", "ibert", "squeezebert", "xlnet")
FUSED = (
    *("bloom", "codegen", "deberta", "falcon", "gpt2", "gpt_bigcode", "gpt_neox", "modernbert", "mpt"),
    *("openai-gpt", "persimmon", "phi3"),
)
NOT_PLAIN = (*WITHOUT, *FUSED, "embedding_gemma2_text")  # which normalises values behind their map


@cache
def found_in(model_type: str) -> tuple[Projections, ...]:
    found = projections(network_of(model_type), capture_of(model_type))
    assert found is not None
    return found


@contextmanager
def kept(module: nn.Module, seen: list[Tensor], of: str):
    """Within this context what a module makes ("output") or is given ("input") is kept."""

    def keep(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        seen.append(output if of == "output" else args[0])

    handle = module.register_forward_hook(keep)
    yield
    handle.remove()


@pytest.mark.parametrize("model_type", in_turn([name for name in EXACT if name not in WITHOUT]))
def test_every_layer_has_its_own(model_type):
    found = found_in(model_type)
    assert [projection.heads for projection in found] == list(capture_of(model_type).heads)
    for projection in found:
        assert all(
            isinstance(module, nn.Linear | Conv1D)
            for module in (projection.query, projection.key, projection.value, projection.output)
        )
        assert projection.fused == (model_type in FUSED)
    shared = {projection.output for projection in found}
    assert len(shared) == (1 if model_type == "albert" else len(found))


@pytest.mark.parametrize("model_type", in_turn([kind for kind in EXACT if kind not in NOT_PLAIN], 1, 2))
def test_contexts_are_attention_times_values_head_by_head(model_type):
    """Each layer's captured maps, times what its value projection makes, is what its output projection is given."""
    network, found = network_of(model_type), found_in(model_type)
    inputs = inputs_of(network)
    real = inputs["attention_mask"].bool()
    contexts: dict[int, Tensor] = {}
    values: list[Tensor] = []
    with quiet(), at_contexts(network, found, contexts.__setitem__):
        with kept(found[0].value, values, "output"):
            maps, _ = captured(network, inputs, CAPTURES[capture_of(model_type).method])
        assert len(contexts) == len(maps) == len(found)
        if found[0].value is not found[1].value:
            with kept(found[1].value, values, "output"):
                captured(network, inputs, CAPTURES[capture_of(model_type).method])
    for layer, value in enumerate(values[:2]):
        projection = found[layer]
        split = value.unflatten(-1, (-1, projection.width))  # [example, token, key head, width]
        split = split.repeat_interleave(projection.heads // split.shape[2], dim=2)
        expected = torch.einsum("ehqk,ekhw->eqhw", maps[layer], split).flatten(2)
        torch.testing.assert_close(contexts[layer][real], expected[real], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model_type", WITHOUT)
def test_families_without(model_type):
    network, capture = network_of(model_type), capture_of(model_type)
    assert projections(network, capture) is None
    model = headscope.Model(model_type, network, tiny_tokenizer(), capture)
    with pytest.raises(HeadscopeError, match=f"model type '{model_type}': the linear maps of its attention cannot be"):
        _ = model.projections


def test_what_is_returned_takes_the_place_of_the_contexts():
    network, inputs = network_of("bert"), inputs_of(network_of("bert"))
    found, given = found_in("bert"), []
    with torch.inference_mode(), at_contexts(network, found, lambda layer, contexts: contexts * 0 + layer):
        with kept(found[0].output, given, "input"), kept(found[1].output, given, "input"):
            network(**inputs)
            network(**inputs)
    assert [tensor.unique().tolist() for tensor in given] == [[0], [1]] * 2


def hooks(network: nn.Module) -> list[int]:
    """How many each module has; transformers has some of its own."""
    return [len(module._forward_pre_hooks) + len(module._forward_hooks) for module in network.modules()]


def test_nothing_is_left_behind_by_an_error():
    network = tiny_bert()
    found = projections(network, check(network))
    assert found is not None
    before = hooks(network)
    with pytest.raises(ZeroDivisionError), at_contexts(network, found, lambda layer, contexts: contexts * (1 // 0)):
        network(**inputs_of(network))
    assert hooks(network) == before


def test_heads_that_are_woven_into_each_other_are_not_taken(monkeypatch: pytest.MonkeyPatch):
    """As if number w of all heads came before number w + 1 of any."""
    network, called = tiny_bert(), projections_module._called

    def woven(*given):
        return [
            (layer, module, contexts.unflatten(-1, (4, -1)).mT.flatten(-2))
            for layer, module, contexts in called(*given)
        ]

    assert projections(network, check(network)) is not None
    monkeypatch.setattr(projections_module, "_called", woven)
    assert projections(network, check(network)) is None


def test_maps_of_a_layer_that_is_not_called_are_not_taken():
    network: Any = tiny_bert()
    capture = check(network)
    network.encoder.layer[1].attention.output.dense = nn.Sequential(network.encoder.layer[1].attention.output.dense)
    assert projections(network, capture) is None

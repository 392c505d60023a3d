"""Disabled and gated heads, against hooks that overwrite what heads give to the output projection of an eager model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import headscope
from capture.test_families import EXACT, inputs_of, network_of
from headscope import HeadscopeError, Model
from headscope.capture.interventions import Gated, Mode
from headscope.capture.projections import at_contexts
from headscope.capture.self_check import check
from headscope.capture.transformers_logging import quiet
from headscope.capture.watch import current
from headscope.models.heads import parse
from support.planted import looks_at_piece, planted
from support.tiers import in_turn, paired
from support.tiny import randomised, tiny_bert, tiny_tokenizer

Heads = np.ndarray
SETS = ("1-2", "1-1,2-4", "2-*", "*-*")
WIDTH = 8


def everything(tokens: int) -> Tensor:
    return torch.ones(tokens, tokens).bool()


def causal(tokens: int) -> Tensor:
    return everything(tokens).tril()


def sliding(tokens: int) -> Tensor:
    """Windows of 4 tokens to either side, as `tiny_families` makes modernbert's."""
    positions = torch.arange(tokens)
    return (positions - positions[:, None]).abs() <= 4


# Of each family: the value projection of a layer, its part of that map's output, and which keys a query sees.
FAMILIES: dict[str, tuple[str, Callable[[Tensor], Tensor], Callable[[int, int], Tensor]]] = {
    "bert": ("encoder.layer.{}.attention.self.value", lambda made: made, lambda layer, n: everything(n)),
    "roberta": ("encoder.layer.{}.attention.self.value", lambda made: made, lambda layer, n: everything(n)),
    "distilbert": ("transformer.layer.{}.attention.v_lin", lambda made: made, lambda layer, n: everything(n)),
    "t5": ("block.{}.layer.0.SelfAttention.v", lambda made: made, lambda layer, n: everything(n)),
    "llama": ("layers.{}.self_attn.v_proj", lambda made: pairs(made), lambda layer, n: causal(n)),
    "gpt2": ("h.{}.attn.c_attn", lambda made: made.chunk(3, dim=-1)[2], lambda layer, n: causal(n)),
    "modernbert": (
        "layers.{}.attn.Wqkv", lambda made: made.chunk(3, dim=-1)[2],
        lambda layer, n: sliding(n) if layer else everything(n),
    ),
    # at the softmax; the last two with examples and heads flattened
    "deberta-v2": ("encoder.layer.{}.attention.self.value_proj", lambda made: made, lambda layer, n: everything(n)),
    "mpnet": ("encoder.layer.{}.attention.attn.v", lambda made: made, lambda layer, n: everything(n)),
    "openai-gpt": ("h.{}.attn.c_attn", lambda made: made.chunk(3, dim=-1)[2], lambda layer, n: causal(n)),
    "mvp": ("layers.{}.self_attn.v_proj", lambda made: made, lambda layer, n: everything(n)),
    "xglm": ("layers.{}.self_attn.v_proj", lambda made: made, lambda layer, n: causal(n)),
}  # fmt: skip


def pairs(made: Tensor) -> Tensor:
    """Each of llama's two key heads serves two query heads."""
    return made.unflatten(-1, (2, WIDTH)).repeat_interleave(2, dim=2).flatten(2)


@cache
def model_of(model_type: str) -> Model:
    with quiet():
        return headscope.wrap(network_of(model_type), tiny_tokenizer())


def means_of(model: Model) -> np.ndarray:
    layers = len(model.capture.heads)
    return np.random.default_rng(0).normal(size=(layers, 4, WIDTH))


@contextmanager
def overwritten(model: Model, write: Callable[[int, Tensor, Tensor], object]) -> Iterator[None]:
    """`write(layer, contexts, values)` writes into each layer's contexts; both [example, token, head, width]."""
    name, part, _ = FAMILIES[model.network.config.model_type]
    values: dict[int, Tensor] = {}
    handles = []
    for layer, projection in enumerate(model.projections):

        def keep(module: nn.Module, args: object, made: Tensor, layer: int = layer) -> None:
            values[layer] = part(made).unflatten(-1, (4, WIDTH))

        def overwrite(module: nn.Module, args: tuple[Tensor, ...], layer: int = layer) -> tuple[Tensor]:
            contexts = args[0].clone().unflatten(-1, (4, WIDTH))
            write(layer, contexts, values[layer])
            return (contexts.flatten(2),)

        value = model.network.get_submodule(name.format(layer))
        handles += [value.register_forward_hook(keep), projection.output.register_forward_pre_hook(overwrite)]
    yield
    for handle in handles:
        handle.remove()


def naive(model: Model, inputs: dict[str, Tensor], disabled: Heads, mode: Mode, means: np.ndarray) -> Tensor:
    """What the eager model gives when each disabled head's output is written token by token."""
    real, sees = inputs["attention_mask"].bool(), FAMILIES[model.network.config.model_type][2]

    def write(layer: int, contexts: Tensor, values: Tensor) -> None:
        seen = sees(layer, real.shape[1])
        for head in np.flatnonzero(disabled[layer]):
            for example in range(len(real)):
                for query in np.flatnonzero(real[example]):
                    keys = seen[query] & real[example]
                    contexts[example, query, head] = {
                        "uniform": values[example, keys, head].mean(0),
                        "zero": torch.zeros(WIDTH),
                        "mean": torch.from_numpy(means[layer, head]).float(),
                    }[mode]

    return eager(model, inputs, write)


@torch.inference_mode()
def eager(model: Model, inputs: dict[str, Tensor], write: Callable[[int, Tensor, Tensor], object]) -> Tensor:
    network, before = model.network, model.network.config._attn_implementation or "eager"
    with quiet(), overwritten(model, write):
        network.set_attn_implementation("eager")
        output = network(**inputs)[0]
        network.set_attn_implementation(before)
    return output


@pytest.mark.parametrize(("model_type", "mode"), paired(FAMILIES, ["uniform", "zero", "mean"]))
def test_disabled_heads_are_those_of_a_naive_loop(model_type: str, mode: Mode, blocks_of: Callable[..., None]):
    model = model_of(model_type)
    inputs, means = inputs_of(model.network), means_of(model)
    real = inputs["attention_mask"].bool()
    blocks_of(10, 0)
    with torch.inference_mode():
        untouched = model.network(**inputs)[0]
    for names in SETS:
        disabled = parse(names, model.capture.heads)
        with torch.inference_mode(), model.changed(disabled, mode, means):
            output = model.network(**inputs)[0]
        expected = naive(model, inputs, disabled, mode, means)
        torch.testing.assert_close(output[real], expected[real], rtol=1e-5, atol=1e-5)
        assert (output - untouched)[real].abs().amax() > 1e-2, "nothing was changed"


@pytest.mark.parametrize("model_type", FAMILIES)
def test_gates_scale_what_heads_give(model_type: str, blocks_of: Callable[..., None]):
    model = model_of(model_type)
    inputs = inputs_of(model.network)
    real = inputs["attention_mask"].bool()
    gates = [torch.rand(*real.shape, 4, generator=torch.Generator().manual_seed(n)) for n in range(3)]
    blocks_of(10, 0)
    with torch.inference_mode(), model.intervened(Gated(gates)):
        output = model.network(**inputs)[0]
    expected = eager(model, inputs, lambda layer, contexts, values: contexts.mul_(gates[layer][..., None]))
    torch.testing.assert_close(output[real], expected[real], rtol=1e-5, atol=1e-5)


class Maps:
    """An observer that keeps whole maps."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape, self.maps, self.without_entropy = shape, {}, []

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, entropy: object, heads: slice
    ) -> None:
        full_map = self.maps.setdefault(
            layer, torch.full((self.shape[0], attention.shape[1], *self.shape[1:] * 2), -1.0)
        )
        full_map[examples, :, queries] = attention
        self.without_entropy.append((layer, entropy is None))


@pytest.mark.parametrize(("model_type", "order"), paired(FAMILIES, ["observer inside", "observer outside"]))
def test_an_observer_sees_exactly_uniform_attention(model_type: str, order: str):
    model = model_of(model_type)
    inputs = inputs_of(model.network)
    real, sees = inputs["attention_mask"].bool(), FAMILIES[model_type][2]
    maps = Maps(tuple(real.shape))
    contexts = [model.changed(parse("1-2,2-*", model.capture.heads)), model.observed(maps)]
    first, second = contexts if order == "observer inside" else reversed(contexts)
    with torch.inference_mode(), first, second:
        model.network(**inputs)
    for layer, heads in ((0, [1]), (1, [0, 1, 2, 3])):
        for example, length in enumerate(real.sum(-1).tolist()):
            seen = sees(layer, length).float()
            expected = (seen / seen.sum(-1, keepdim=True)).expand(len(heads), -1, -1)
            found = maps.maps[layer][example, heads][:, :length]
            assert torch.equal(found[..., :length], expected) and not found[..., length:].any()
    others = maps.maps[0][:, [0, 2, 3]].transpose(1, 2)[real]
    assert (others.amax(-1) > 0.3).any(), "heads that are not disabled look where they did"


def test_a_key_whose_probability_is_zero_is_still_a_key():
    """A score of 500 leaves nothing to any other key: e^-500 is 0 in float32, and in float64 almost."""
    model = headscope.wrap(planted({(1, 1): looks_at_piece("cat", 500.0)}), tiny_tokenizer())
    inputs = dict(model.tokenizer(["the cat sat on a", "a cat"], padding=True, return_tensors="pt"))
    maps, real = Maps(tuple(inputs["input_ids"].shape)), inputs["attention_mask"].float()
    with torch.inference_mode(), model.observed(maps):
        model.network(**inputs)
        assert (maps.maps[0][0, 0] == 0).sum() == 7 * 6, "the planted head looks nowhere else"
        with model.changed(parse("1-1", model.capture.heads)):
            model.network(**inputs)
    uniform = (real / real.sum(-1, keepdim=True))[:, None].expand(-1, 7, -1)
    assert torch.equal(maps.maps[0][:, 0], uniform)


def test_two_changes_work_one_after_the_other():
    model = model_of("bert")
    inputs = inputs_of(model.network)
    one, other = (parse(name, model.capture.heads) for name in ("1-1", "2-3"))
    with torch.inference_mode():
        with model.changed(one), model.changed(other, "zero"):
            nested = model.network(**inputs)[0]
        both = naive(model, inputs, one, "uniform", means_of(model))
        with overwritten(model, lambda layer, contexts, values: contexts[:, :, 2].zero_() if layer else None):
            with model.changed(one):
                expected = model.network(**inputs)[0]
    torch.testing.assert_close(nested, expected, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(nested, both, atol=1e-2)


@pytest.mark.parametrize("model_type", ["bert", "mpnet"])
@pytest.mark.parametrize("mode", ["uniform", "zero", "mean"])
def test_the_model_is_as_before_also_after_an_error(model_type: str, mode: Mode):
    model = model_of(model_type)
    network, inputs, before = model.network, inputs_of(model.network), state(model.network)
    with torch.inference_mode():
        output = network(**inputs)[0]
        with pytest.raises(ZeroDivisionError), model.changed(parse("*-*", model.capture.heads), mode, means_of(model)):
            raise ZeroDivisionError
        with pytest.raises(ZeroDivisionError), model.intervened(lambda layer, attention, *_: attention * (1 // 0)):
            network(**inputs)
        assert state(network) == before and current() == ()
        assert torch.equal(network(**inputs)[0], output)


def state(network: nn.Module) -> tuple[object, ...]:
    config: Any = network.config
    hooks = [len(module._forward_pre_hooks) + len(module._forward_hooks) for module in network.modules()]
    return config._attn_implementation, hooks


def test_attention_that_goes_past_an_intervention_is_noticed():
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    with model.changed(parse("1-1", model.capture.heads)):
        model.network.set_attn_implementation("sdpa")
        with pytest.raises(RuntimeError, match="0 attention calls were changed, expected 3"):
            model.network(input_ids=torch.tensor([[2, 9, 3]]))


def test_values_read_off_changed_attention_do_not_come_from_old_scores():
    """Observers may use the scores in place of the attention; where it was changed there are none."""
    model, maps = model_of("bert"), Maps((5, 37))
    with torch.inference_mode(), model.observed(maps), model.changed(parse("2-1", model.capture.heads)):
        model.network(**inputs_of(model.network))
    assert set(maps.without_entropy) == {(0, False), (1, True)}


def test_what_cannot_be_changed_is_said():
    model, heads = model_of("bert"), parse("1-1", (4, 4))
    wrong: Any = "off"
    with pytest.raises(HeadscopeError, match="mode 'off' is unknown; use one of uniform, zero, mean"):
        model.changed(heads, wrong)
    with pytest.raises(ValueError, match=r"heads of shape \(1, 4\), the model has \(2, 4\)"):
        model.changed(heads[:1])
    with pytest.raises(ValueError, match=r"mode 'mean' needs means \[layer, head, width\], not None"):
        model.changed(heads, "mean")
    with pytest.raises(
        HeadscopeError, match="model type 'xlnet': the linear maps of its attention cannot be identified"
    ):
        model_of("xlnet").changed(heads, "mean", np.zeros((2, 4, 8)))


@pytest.mark.parametrize("mode", ["uniform", "zero"])
def test_a_family_without_known_maps_can_be_changed_at_the_softmax(mode: Mode):
    """There is nothing to hook for a naive loop; the maps say it."""
    model = model_of("xlnet")
    maps, inputs = Maps((5, 37)), inputs_of(model.network)
    with torch.inference_mode(), model.changed(parse("1-2", model.capture.heads), mode), model.observed(maps):
        model.network(**inputs)
    real = inputs["attention_mask"].float()
    row = real / real.sum(-1, keepdim=True) if mode == "uniform" else real * 0
    expected = row[:, None].expand(-1, 37, -1)[real.bool()]
    assert torch.equal(maps.maps[0][:, 1][real.bool()], expected)


def test_gradients_reach_the_gates_and_pass_through(blocks_of: Callable[..., None]):
    """Against gates that a hook puts before the output projection."""
    blocks_of(10, 0)
    model = model_of("bert")
    network, inputs = model.network, inputs_of(model.network)
    gates = [torch.rand(5, 37, 4, generator=torch.Generator().manual_seed(n)).requires_grad_() for n in range(2)]

    def scale(layer: int, contexts: Tensor) -> Tensor:
        return (contexts.unflatten(-1, (4, WIDTH)) * gates[layer][..., None]).flatten(2)

    gradients = []
    for gating in (model.intervened(Gated(gates)), at_contexts(network, model.projections, scale)):
        with gating:
            gradients.append(torch.autograd.grad(network(**inputs)[0][:, 0].square().sum(), gates))
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model_type", in_turn(EXACT, 2))
def test_uniform_attention_is_over_the_keys_that_a_query_sees_in_every_family(model_type: str):
    """Those with any probability before: at small weights none that is seen has so little that it is 0."""
    network = randomised(deepcopy(network_of(model_type)), spread=0.05)
    model = Model(model_type, network, tiny_tokenizer(), check(network))
    maps, inputs = [Maps((5, 37)), Maps((5, 37))], inputs_of(network)
    with quiet(), torch.inference_mode():
        with model.observed(maps[0]):
            network(**inputs)
        with model.changed(parse("1-*", model.capture.heads)), model.observed(maps[1]):
            network(**inputs)
    before, after = (observer.maps[0].transpose(1, 2)[inputs["attention_mask"].bool()] for observer in maps)
    seen = before > 0  # [row, head, key]
    assert torch.equal(after, seen / seen.sum(-1, keepdim=True))
    assert not torch.equal(before, after)

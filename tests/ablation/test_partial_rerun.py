"""Running again from a layer gives what whole forward passes with overwritten attention give.

In double precision, for weights as large as those of tiny models make much of rounding; all but ModernBERT, whose
eager attention in double precision is not a number where a window holds padding only.
"""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM

from headscope.ablation.partial_rerun import Rerun
from headscope.capture.attention_switch import _attend, attending, fused, switchable
from headscope.capture.eager import check_inputs
from headscope.capture.interventions import replacements
from headscope.capture.layer_stack import instead, stack
from headscope.models.model import wrap
from support.ablated import ablated
from support.tiers import paired
from support.tiny import tiny_tokenizer
from support.tiny_families import tiny_classifier

# Whether the last layer can be run for [CLS] alone.
FAMILIES = {
    "bert": True, "roberta": True, "distilbert": True, "electra": True, "layoutlm": True,
    "modernbert": False, "esm": False, "gpt2": False, "llama": False, "mistral": False, "nomic_bert": False,
}  # fmt: skip
DTYPES = {"modernbert": torch.float32}
LAYERS, HEADS, WIDTH = 3, 4, 8


@pytest.fixture(scope="module")
def networks() -> dict[str, Any]:
    return {}


def network_of(kind: str, networks: dict[str, Any]) -> Any:
    if kind not in networks:
        network: Any = tiny_classifier(kind, layers=LAYERS)
        networks[kind] = network.to(DTYPES.get(kind, torch.float64))
    return networks[kind]


def means() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(LAYERS, HEADS, WIDTH)).astype(np.float32)


def rerun(network: Any, mode: str = "uniform", rows: Tensor | None = None, examples: slice = slice(None)) -> Rerun:
    model: Any = wrap(network, tiny_tokenizer())
    found = stack(network, LAYERS)
    assert found is not None and model.projections is not None
    inputs = {name: tensor[examples] for name, tensor in check_inputs(network).items()}
    instead = replacements(mode, model.projections, means())  # type: ignore[arg-type]
    return Rerun(found, model.projections, instead, inputs, rows)


def disabled(one: Rerun, layer: int, chosen: np.ndarray, above: np.ndarray | None = None) -> list[Tensor]:
    nothing = np.zeros((LAYERS, HEADS), dtype=bool)
    with torch.inference_mode(), switchable(one.stack.network):
        one.start()
        return list(one.disabled(layer, chosen, nothing if above is None else above))


SETS = np.vstack([np.eye(HEADS, dtype=bool), np.ones((1, HEADS), dtype=bool)])


@pytest.mark.parametrize(("family", "mode"), paired(FAMILIES, ["uniform", "zero", "mean"]))
def test_every_head_and_layer_as_in_whole_passes(family: str, mode: str, networks: dict[str, Any]) -> None:
    network = network_of(family, networks)
    first = torch.zeros(2, 1, dtype=torch.long)
    for layer in range(LAYERS):
        runs = [rerun(network, mode, rows) for rows in ((None, first) if FAMILIES[family] else (None,))]
        for chosen, *found in zip(SETS, *(disabled(one, layer, SETS) for one in runs), strict=True):
            heads = np.zeros((LAYERS, HEADS), dtype=bool)
            heads[layer] = chosen
            expected = ablated(network, runs[0].inputs, heads, mode, means())
            for answers in found:
                torch.testing.assert_close(answers, expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("mode", ["uniform", "zero", "mean"])
@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_sets_of_heads_of_several_layers(family: str, mode: str, networks: dict[str, Any]) -> None:
    network, heads = network_of(family, networks), np.zeros((LAYERS, HEADS), dtype=bool)
    heads[0, 1] = heads[1, [0, 2]] = heads[2, 3] = True
    for rows in (None, torch.zeros(2, 1, dtype=torch.long)) if FAMILIES[family] else (None,):
        one = rerun(network, mode, rows)
        (found,) = disabled(one, 0, heads[:1], heads)
        torch.testing.assert_close(found, ablated(network, one.inputs, heads, mode, means()), rtol=1e-5, atol=2e-5)


def test_the_plain_pass_is_the_model_s_own(networks: dict[str, Any]) -> None:
    network = network_of("bert", networks)
    one = rerun(network)
    with torch.inference_mode():
        expected = network(**one.inputs).logits
        with switchable(network):
            assert (one.start() - expected).abs().amax() < 1e-5


def test_batched_is_one_by_one(networks: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of("bert", networks)
    together = disabled(rerun(network), 0, SETS)
    monkeypatch.setattr("headscope.ablation.partial_rerun.CHUNK", 1)
    torch.testing.assert_close(disabled(rerun(network), 0, SETS), together, rtol=1e-5, atol=2e-5)
    for example in range(2):
        alone = disabled(rerun(network, examples=slice(example, example + 1)), 0, SETS)
        expected = [tensor[example : example + 1] for tensor in together]
        torch.testing.assert_close(alone, expected, rtol=1e-5, atol=2e-5)


def test_several_tokens_of_each_example_can_be_read(networks: dict[str, Any]) -> None:
    """Those that differ between examples, too, as words behind a mask do."""
    network, rows = (
        tiny_classifier("bert", kind=AutoModelForMaskedLM, layers=LAYERS).double(),
        torch.tensor([[1, 4], [7, 2]]),
    )
    for layer in range(LAYERS):
        one = rerun(network, rows=rows)
        for chosen, found in zip(SETS, disabled(one, layer, SETS), strict=True):
            heads = np.zeros((LAYERS, HEADS), dtype=bool)
            heads[layer] = chosen
            expected = ablated(network, one.inputs, heads)
            torch.testing.assert_close(
                found, torch.stack([expected[0, [1, 4]], expected[1, [7, 2]]]), rtol=1e-5, atol=1e-5
            )


@pytest.mark.parametrize("family", ["modernbert", "gpt2"])
def test_rows_are_refused_where_tokens_see_different_keys(family: str, networks: dict[str, Any]) -> None:
    with pytest.raises((NotImplementedError, RuntimeError)):
        disabled(rerun(network_of(family, networks), rows=torch.zeros(2, 1, dtype=torch.long)), 0, SETS)


def test_a_model_is_left_as_it_was(networks: dict[str, Any]) -> None:
    network = network_of("gpt2", networks)
    before = {name: dict(vars(module)) for name, module in network.named_modules()}
    disabled(rerun(network), 1, SETS)
    assert network.config._attn_implementation == "eager" and network.config.use_cache is True
    assert {name: dict(vars(module)) for name, module in network.named_modules()} == before


def test_after_an_error_too(networks: dict[str, Any]) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    network = network_of("bert", networks)
    one = rerun(network)
    with pytest.raises(ZeroDivisionError), switchable(network), attending(fail):
        one.stack.calls(one.inputs)
    with pytest.raises(ZeroDivisionError), instead({layer: fail for layer in one.stack.layers}):
        network(**one.inputs)
    assert network.config._attn_implementation == "eager"
    assert all("forward" not in vars(layer) for layer in one.stack.layers)
    assert _attend.get() is fused


def test_layers_that_are_no_stack_are_not_found() -> None:
    assert stack(tiny_classifier("albert"), 2) is None
    assert stack(tiny_classifier("deberta-v2"), 2) is None
    assert stack(tiny_classifier("bert"), 3) is None
    assert stack(tiny_classifier("bert"), 0) is None

"""States of one text in another give what plain hooks of torch give; a planted head brings all back."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import headscope
from headscope import Settings
from headscope.capture.layer_stack import stack
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from headscope.studies.layers.lens import study
from headscope.studies.layers.lens.patching import patched, runs
from headscope.studies.layers.lens.text_pair import TextPair, text_pair
from support.lens_models import TOKENIZER, decoder, planted
from support.tiny import tiny_bert

CAUSAL = ("the old man saw a dog", "the new man saw a cat")
MASKED = ("the old [MASK] saw a dog", "the new [MASK] sat a cat")


def bert() -> headscope.Model:
    return headscope.wrap(tiny_bert(0, BertForMaskedLM), TOKENIZER)


def measured(pair: TextPair) -> dict[str, np.ndarray]:
    done = list[int]()
    layers = stack(pair.model.network, len(pair.model.capture.heads))
    assert layers
    numbers = patched(pair, layers, Settings(batch_tokens=2 * pair.ids.shape[1], on_progress=done.append))
    assert sum(done) == runs(pair) and max(done) == 2
    return numbers


def slow(pair: TextPair, layers: Any, outputs: list[Any]) -> dict[str, np.ndarray]:
    """The same one pass after the other, by a hook for each."""
    network, heads = pair.model.network, pair.model.capture.heads[0]
    first, second = (torch.from_numpy(ids[None]) for ids in pair.ids)

    def lead(ids: torch.Tensor, module: Any = network, hook: Callable[..., Any] = lambda *_: None) -> float:
        handle = module.register_forward_pre_hook(hook)
        with torch.inference_mode():
            logits = network(ids).logits[0, pair.token]
        handle.remove()
        return float(logits[pair.answers[0]] - logits[pair.answers[1]])

    def entered(module: Any) -> torch.Tensor:
        kept: list[torch.Tensor] = []
        lead(first, module, lambda _, args: kept.append(args[0].clone()))
        return kept[0]

    def put(module: Any, tokens: slice, columns: slice) -> float:
        values = entered(module)

        def hook(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
            changed = args[0].clone()
            changed[:, tokens, columns] = values[:, tokens, columns]
            return (changed, *args[1:])

        return (lead(second, module, hook) - lead(second)) / (lead(first) - lead(second))

    last = slice(pair.token, pair.token + 1)
    width = entered(outputs[0]).shape[-1] // heads
    columns = [slice(head * width, (head + 1) * width) for head in range(heads)]
    tokens = [slice(token, token + 1) for token in range(first.shape[1])]
    return {
        "restored_by_state": np.array([[put(layer, token, slice(None)) for token in tokens] for layer in layers]),
        "restored_by_head": np.array([[put(output, slice(None), part) for part in columns] for output in outputs]),
        "restored_by_last": np.array([[put(output, last, part) for part in columns] for output in outputs]),
        "text_lead": np.array(lead(first)),
        "against_lead": np.array(lead(second)),
    }


@pytest.mark.parametrize("kind", ["gpt2", "gemma3_text", "bert"])
def test_what_comes_back_equals_plain_hooks(kind: str) -> None:
    model = bert() if kind == "bert" else decoder(kind)
    network: Any = model.network
    layers = {"bert": "bert.encoder.layer", "gpt2": "transformer.h"}.get(kind, "model.layers")
    output = {"bert": "attention.output.dense", "gpt2": "attn.c_proj"}.get(kind, "self_attn.o_proj")
    modules = [*network.get_submodule(layers)]
    pair = text_pair(model, MASKED if kind == "bert" else CAUSAL, "man,bank")
    first, second = pair.logits(torch.from_numpy(pair.ids))
    pair = replace(pair, answers=(int((first - second).argmax()), int((first - second).argmin())))
    numbers = measured(pair)
    for name, values in slow(pair, modules, [layer.get_submodule(output) for layer in modules]).items():
        np.testing.assert_allclose(numbers[name], values, atol=1e-4, err_msg=name)


def test_the_planted_head_brings_all_back() -> None:
    pair = text_pair(planted(), ("cat bank", "cat book"))
    assert pair.words == ["book", "bird"]
    numbers = measured(pair)
    for name in ("restored_by_head", "restored_by_last"):
        np.testing.assert_allclose(numbers[name], [[1, 0]], atol=1e-5)
    np.testing.assert_allclose(numbers["restored_by_state"], [[0, 0, 1]], atol=1e-5)
    assert pair.labels == ["1 [CLS]", "2 cat", "3 bank | book"]


def test_pairs_that_do_not_fit_are_refused_with_a_remedy() -> None:
    model = planted()
    with pytest.raises(HeadscopeError, match=r"--text has 3 pieces .* 4 .*: use words with the same number of pieces"):
        text_pair(model, ("cat bank", "cat bank book"))
    with pytest.raises(HeadscopeError, match="answer to both texts is 'book'; name one for each: --answers"):
        text_pair(model, ("cat bank", "bird bank"))
    with pytest.raises(HeadscopeError, match="--answers has 1 words; write WORD,WORD"):
        text_pair(model, ("cat bank", "cat book"), "cat")
    with pytest.raises(HeadscopeError, match=r"has 0 gaps; write \[MASK\] once"):
        text_pair(bert(), CAUSAL)
    with pytest.raises(HeadscopeError, match="shorten both texts"):
        text_pair(model, ("cat " * 80, "book " * 80))
    with pytest.raises(HeadscopeError, match="--text and --against need each other"):
        study.run(model, headscope.read("sample"), text="cat bank")


def test_a_result_has_both_texts_and_their_pictures() -> None:
    settings = Settings(resamples=20)
    few: dict[str, Any] = {"predictions": 20, "map_predictions": 0}
    result = study.run(planted(), headscope.read("sample"), settings, text="cat bank", against="cat book", **few)
    assert json.loads(result.attrs["pair"]) == {"texts": ["cat bank", "cat book"], "answers": ["book", "bird"]}
    page = study_page(result)
    (finding,) = (finding for finding in page.findings() if finding.topic == "One text put into another")
    assert finding.verdict is None and "1-1 (1.00)" in finding.text
    assert {"restored_by_state", "restored_by_head", "restored_by_last"} <= {figure.name for figure in page.figures()}

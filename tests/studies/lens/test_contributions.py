"""Direct contributions add up to the logits of transformers, and are those of a slow loop over its modules."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import headscope
from headscope import Settings
from headscope.models.residual_writes import residual_writes
from headscope.outputs.words.read_texts import ReadTexts
from headscope.report.study_page import study_page
from headscope.studies.layers.lens import study
from headscope.studies.layers.lens.contributions import Contributions, contributions
from headscope.studies.layers.lens.texts import split_texts
from support.lens_models import CYCLE, FAMILIES, PAIRS, decoder, planted
from support.planted_words import causal_table
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20)


def texts_of(model: headscope.Model) -> ReadTexts:
    return split_texts(model, headscope.read(["she saw the old cat in a garden", "he walked by the river"]), 12, 0)[1]


def of_model(model: headscope.Model) -> Contributions:
    writes = residual_writes(model)
    assert not isinstance(writes, str), writes
    numbers = contributions(model, writes, texts_of(model), 200, QUICK)
    assert not isinstance(numbers, str), numbers
    return numbers


@pytest.mark.parametrize("kind", FAMILIES)
def test_contributions_add_up_to_the_logits(kind: str) -> None:
    model = decoder(kind)
    texts, numbers = texts_of(model), of_model(model)
    cap = FAMILIES[kind].get("final_logit_softcapping")
    targets, above, words = np.concatenate([text.ids[text.places] for text in texts.texts]), [], []
    for part in texts.parts(model, 200):
        with torch.inference_mode():
            logits = model.network(torch.from_numpy(part.ids)).logits.double()
        logits = cap * torch.atanh(logits / cap) if cap else logits
        for number, target in zip(part.read, part.target, strict=True):
            row = logits[part.row[number], part.token[number]]
            above.append(float(row[target] - row.mean()))
            words.append(float(row[target] - row[targets].mean()))
    parts = [numbers["direct_head"].sum((0, 1)), numbers["direct_feed_forward"].sum(0)]
    np.testing.assert_allclose(numbers["direct_logit"], above, atol=1e-4)
    np.testing.assert_allclose(sum(parts) + numbers["direct_embedding"] + numbers["direct_bias"], above, atol=1e-4)
    np.testing.assert_allclose(numbers["direct_logit_gain"], words, atol=1e-4)
    assert np.ptp(numbers["direct_head"], axis=-1).min() > 1e-3


def watched(module: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """What enters a module and what leaves it, at each call."""
    calls: list[tuple[torch.Tensor, torch.Tensor]] = []
    module.register_forward_hook(lambda _, args, out: calls.append((args[0], out)))
    return calls


def slow_head(layer: Any, head: int, contexts: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
    """What a head of four writes: its columns of the output projection, in Gemma 3 also through the norm behind."""
    columns = slice(head * len(contexts) // 4, (head + 1) * len(contexts) // 4)
    if hasattr(layer, "attn"):
        return contexts[columns] @ layer.attn.c_proj.weight[columns]
    norm = layer.post_attention_layernorm
    vector = layer.self_attn.o_proj.weight[:, columns] @ contexts[columns]
    return vector * (1 + norm.weight) / (written.square().mean() + norm.eps).sqrt()


def slow_logit(network: Any, vector: torch.Tensor, state: torch.Tensor, target: int) -> float:
    """The logit of a piece less the mean logit that a part of a state gives, through the last norm of that state."""
    unembedded = network.lm_head.weight[target] - network.lm_head.weight.mean(0)
    if hasattr(network, "transformer"):
        last = network.transformer.ln_f
        vector, scale = vector - vector.mean(), (state.var(correction=0) + last.eps).sqrt()
        return float(vector / scale * last.weight @ unembedded)
    last = network.model.norm
    return float(vector / (state.square().mean() + last.eps).sqrt() * (1 + last.weight) @ unembedded)


def slow(model: headscope.Model) -> dict[str, np.ndarray]:
    """Contributions of heads and feed-forward parts, and lengths, one after the other."""
    network: Any = model.network
    gpt2 = hasattr(network, "transformer")
    layers = network.transformer.h if gpt2 else network.model.layers
    attention = [watched(layer.attn.c_proj if gpt2 else layer.self_attn.o_proj) for layer in layers]
    feed_forward = [watched(layer.mlp if gpt2 else layer.post_feedforward_layernorm) for layer in layers]
    last = watched(network.transformer.ln_f if gpt2 else network.model.norm)
    rows: dict[str, list[Any]] = {"direct_head": [], "direct_feed_forward": [], "write_length": []}
    for part in texts_of(model).parts(model, 200):
        with torch.inference_mode():
            network(torch.from_numpy(part.ids))
            for number, target in zip(part.read, part.target, strict=True):
                at = part.row[number], part.token[number]
                state, heads = last[-1][0][at], []
                for layer, calls in zip(layers, attention, strict=True):
                    contexts, written = calls[-1]
                    heads.append([slow_head(layer, head, contexts[at], written[at]) for head in range(4)])
                direct = [[slow_logit(network, vector, state, target) for vector in layer] for layer in heads]
                after = [slow_logit(network, calls[-1][1][at], state, target) for calls in feed_forward]
                rows["direct_head"].append(direct)
                rows["write_length"].append([[float(vector.norm()) for vector in layer] for layer in heads])
                rows["direct_feed_forward"].append(after)
    return {name: np.moveaxis(np.array(values), 0, -1) for name, values in rows.items()}


@pytest.mark.parametrize("kind", ["gpt2", "gemma3_text"])
def test_contributions_equal_a_slow_loop(kind: str) -> None:
    model = decoder(kind)
    numbers = of_model(model)
    for name, values in slow(model).items():
        np.testing.assert_allclose(numbers[name], values, atol=1e-4, err_msg=name)


def test_models_without_a_sum_have_a_reason_and_no_numbers() -> None:
    model = headscope.wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    result = study.run(model, headscope.read("sample"), QUICK, predictions=40, map_predictions=0)
    assert "direct_head" not in result and "write_length" not in result
    why = "more than a normalisation stands"
    assert result.attrs["contributions_left_out"].startswith(why)
    assert f"do not apply: {why}" in study_page(result).findings()[-1].text


def test_the_head_that_writes_the_right_piece_is_named_where_the_model_predicts() -> None:
    texts = headscope.read([" ".join(CYCLE * 2)] * 100)
    result = study.run(planted(), texts, QUICK, map_predictions=0)
    gain = float(result["direct_logit_gain"])
    assert gain > 1 and result["direct_head_gain"].values[0] / gain == pytest.approx([1, 0], abs=0.02)
    page = study_page(result)
    assert [(kind.layer, kind.head, kind.kind) for kind in page.kinds()] == [(1, 1, "writer")]
    assert "1 head of 2 writes the right piece" in {finding.topic for finding in page.highlights()}
    table = study.run(causal_table(dict.fromkeys(PAIRS, 9.0)), texts, QUICK, map_predictions=0)
    parts = float(table["direct_embedding"] + table["direct_bias"])
    assert parts == pytest.approx(float(table["direct_logit"])) and not table["direct_head"].any()
    assert not study_page(table).kinds()
    nothing = study_page(study.run(causal_table({}), texts, QUICK, map_predictions=0))
    assert not any("write the right" in finding.topic for finding in nothing.highlights())

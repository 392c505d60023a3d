"""A KV head is cut out with the query heads that share it: ranked, judged, saved and run with its smaller cache."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

import headscope
from headscope import HeadscopeError, Model, Settings, results
from headscope.capture.transformers_logging import quiet
from headscope.corpora.tasks import Task, words
from headscope.models.pruned_folder import save
from headscope.outputs.gradient_importance import gate_gradients, importance
from headscope.outputs.task_inputs import task_inputs
from headscope.studies.size.prune.cut_heads import prune
from headscope.studies.size.prune.ranking import HeadRanking
from headscope.studies.size.prune.removal import PrunedModel
from support import claim_texts
from support.findings import all_texts_of
from support.runs import ablate
from support.runs import prune as run
from support.tiers import in_turn
from support.tiny import tiny_network, tiny_tokenizer
from support.tiny_families import tiny_config

QUICK, TASK = Settings(resamples=20), words(claim_texts.words(0, 12))
WIDTH = 8  # of a head
# By layer, from 0: the query heads of the second KV head of the first layer, and of the first one of the second.
GONE = ((2, 3), (0, 1))


@cache
def decoder(family: str, **sizes: Any) -> Model:
    """Heads 1-3 and 1-4 share keys, look alike, and write the opposite of each other: together they do nothing."""
    network: Any = tiny_network(tiny_config(family, **sizes), kind=AutoModelForCausalLM)
    attention = network.model.layers[0].self_attn
    with torch.no_grad():
        query, output = attention.q_proj.weight, attention.o_proj.weight
        query[3 * WIDTH :] = query[2 * WIDTH : 3 * WIDTH]
        output[:, 3 * WIDTH :] = -output[:, 2 * WIDTH : 3 * WIDTH]
    return headscope.wrap(network, tiny_tokenizer(), family)


@contextmanager
def without(network: Any) -> Iterator[Any]:
    """The network, in which the outputs of the heads of `GONE` are 0, by plain hooks."""

    def clear(heads: tuple[int, ...], module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
        states = args[0].clone()
        states.unflatten(-1, (-1, WIDTH))[..., list(heads), :] = 0
        return (states,)

    maps = [layer.self_attn.o_proj for layer in network.model.layers]
    handles = [
        one.register_forward_pre_hook(lambda module, args, heads=heads: clear(heads, module, args))
        for one, heads in zip(maps, GONE, strict=True)
    ]
    try:
        yield network
    finally:
        for handle in handles:
            handle.remove()


@pytest.mark.usefixtures("code_cache")
@torch.no_grad()
@pytest.mark.parametrize("family", in_turn(["gemma3_text", "qwen3", "llama"]))
def test_the_smaller_model_is_that_of_plain_hooks_when_it_is_saved_and_when_it_generates(
    family: str, tmp_path: Path
) -> None:
    model, remove = decoder(family), np.zeros((2, 4), dtype=bool)
    remove[0, [2, 3]] = remove[1, [0, 1]] = True
    ids = torch.randint(5, 100, (2, 7), generator=torch.Generator().manual_seed(0))
    options: Any = {"attention_mask": torch.ones_like(ids), "max_new_tokens": 12, "min_new_tokens": 12}
    with quiet(), without(model.network) as network:
        expected = network(ids).logits
        written = network.generate(ids, do_sample=False, use_cache=False, **options)
    with quiet():
        save(prune(model, remove), tmp_path / "model")
        loaded: Any = headscope.load(str(tmp_path / "model"), head=True).network
        plain: Any = AutoModelForCausalLM.from_pretrained(tmp_path / "model", trust_remote_code=True).eval()
        for smaller in (loaded, plain):
            ours = smaller(ids, use_cache=True)
            torch.testing.assert_close(ours.logits, expected, atol=1e-5 * float(expected.abs().max()), rtol=0)
            assert torch.equal(smaller.generate(ids, do_sample=False, **options), written)
            assert [tuple(layer.keys.shape) for layer in ours.past_key_values.layers] == [(2, 1, 7, WIDTH)] * 2


def test_a_kv_head_whose_query_heads_undo_each_other_goes_first(tmp_path: Path) -> None:
    """By itself each of them matters: a mean of single heads would keep them."""
    model = decoder("qwen3")
    result = run(model, TASK, QUICK, directory=tmp_path, unit="kv", share=0.5, step=0.25)
    order, loss = result["removed_at"].values, result["pruned_score"].sel(metric="loss").values
    assert order[0].tolist()[2:] == [1, 1] and sorted(order[np.isfinite(order)]) == [1, 1, 2, 2]
    np.testing.assert_allclose(loss[1], loss[0], rtol=1e-5)
    assert abs(loss[2] - loss[0]) > 1e-3
    assert result["share_removed"].values.tolist() == [0, 0.25, 0.5]
    numbers = WIDTH * 2 * 4  # of a key and a value, in bytes
    assert result["cache_bytes"].values.tolist() == [numbers * 4, numbers * 3, numbers * 2]
    assert headscope.load(str(tmp_path / "model"), head=True).capture.heads == tuple(result["heads_left"].values[-1])
    texts = all_texts_of(result)
    assert texts["2 of 4 KV heads are removed"].startswith("The 2 query heads that share a KV head go with it.")
    assert "128 bytes of keys and values instead of 256" in texts["Its cache is 50% smaller"]
    assert "KV heads by importance, in the order of removal: 1-2, " in texts["Removed first"]
    alone = importance(model, TASK, TASK.dev, QUICK)["importance"].sel(estimator="michel", layer=1).values
    assert (alone[2:] > 0.1 * alone.max()).all()


def naive(model: Model, shared: int) -> dict[str, list[float]]:
    """The estimators of the first layer's heads, where `shared` neighbours have one gate, text by text."""
    values: dict[str, list[float]] = {"michel": [], "michel_code": []}
    inputs = task_inputs(model, TASK, TASK.dev, 0)
    by_text = [gradients[0] for _, gradients in gate_gradients(inputs, inputs.masked_pieces, Settings(batch_tokens=1))]
    tokens = sum(len(text) for text in by_text)
    for first in range(0, 4, shared):
        sums = [[float(sum(token[first : first + shared])) for token in text] for text in by_text]
        values["michel"] += [sum(abs(sum(text)) for text in sums) / len(sums)] * shared
        values["michel_code"] += [sum(abs(token) for text in sums for token in text) / tokens] * shared
    return values


@pytest.mark.parametrize("shared", [1, 2])
def test_the_gradient_of_a_shared_gate_is_the_sum_of_its_heads(shared: int) -> None:
    found = importance(decoder("llama"), TASK, TASK.dev, QUICK, shared)["importance"].sel(layer=1)
    for estimator, expected in naive(decoder("llama"), shared).items():
        np.testing.assert_allclose(found.sel(estimator=estimator), expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("options", "sizes", "message"),
    [
        (
            {},
            {},
            "model type 'llama': its heads share keys and values in groups of 2, .*; remove whole groups .--unit kv",
        ),
        (
            {"unit": "kv"},
            {"num_key_value_heads": 1},
            "'llama' has at most 1 KV head in a layer, and keep 1 .* lower keep",
        ),
        ({"unit": "kv", "keep": 2}, {}, "'llama' has at most 2 KV heads in a layer, and keep 2 leaves as many"),
    ],
)
def test_what_cannot_be_cut_is_refused_before_anything_is_measured(
    options: Any, sizes: Any, message: str, tmp_path: Path, never: Any
) -> None:
    never("headscope.studies.size.prune.study.task_inputs")
    with pytest.raises(HeadscopeError, match=message):
        run(decoder("llama", **sizes), TASK, QUICK, directory=tmp_path, **options)


def test_a_ranking_is_read_where_it_was_measured_of_kv_heads(tmp_path: Path) -> None:
    model = decoder("qwen3")
    measured_on: dict[Any, Task] = {"importance": TASK, "sweep": replace(TASK, train=TASK.dev)}
    for unit in ("head", "kv"):
        measured = ablate(model, TASK, QUICK, unit=unit, mode="zero")
        results.save(measured, tmp_path / unit)
    by_kv_head = PrunedModel(model, (2, 2), shared=2)
    for by, task in measured_on.items():
        read, anew = HeadRanking(by, "michel"), HeadRanking(by, "michel")
        read.read(tmp_path / "kv", model, TASK, shared=2)
        np.testing.assert_allclose(read.of(by_kv_head, task, QUICK), anew.of(by_kv_head, task, QUICK), atol=1e-6)
        assert np.abs(anew.of(by_kv_head, task, QUICK)).round(5).argmin() == 1
    with pytest.raises(HeadscopeError, match="is of single heads; run 'headscope ablate' with --unit kv"):
        HeadRanking("sweep", "michel").read(tmp_path / "head", model, TASK, shared=2)

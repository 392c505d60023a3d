"""The contexts that observe, and what the attention function, its blocks and its masks give."""

import threading
from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, MPNetConfig
from transformers.masking_utils import bidirectional_mask_function, eager_mask

from headscope.capture import attention_function, attention_mask, observer
from headscope.capture.attention_function import NAME, attend, observed
from headscope.capture.observer import blocks
from headscope.capture.softmax import tapped
from headscope.capture.watch import PassWatch, current, watching
from headscope.models.model import max_tokens
from support.shown import INPUTS, Shown, shown
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer


def test_layers_are_counted_from_zero_in_each_pass():
    seen, network = Shown(), tiny_bert()
    with observed(network, seen) as watch:
        for _ in range(2):
            network(**INPUTS)
            assert watch.calls == 3
    assert seen.layers == [0, 1, 2, 0, 1, 2]


def test_tapped_layers_are_counted_from_zero_in_each_pass():
    seen, network = (
        Shown(),
        tiny_network(MPNetConfig(vocab_size=64, hidden_size=24, num_hidden_layers=2, num_attention_heads=4)),
    )
    with tapped(network, seen) as watch:
        for _ in range(2):
            network(**INPUTS)
            assert watch.calls == 2
    assert seen.layers == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "other",
    [tiny_gpt2(), tiny_network(MPNetConfig(vocab_size=64, hidden_size=24, num_hidden_layers=2, num_attention_heads=4))],
)
def test_interleaved_models_do_not_mix(other):
    network, context = tiny_bert(), tapped if other.config.model_type == "mpnet" else observed
    expected, expected_other = shown(network), shown(other, context)
    ours, others = Shown(), Shown()
    with torch.inference_mode(), observed(network, ours), context(other, others):
        network(**INPUTS)
        other(**INPUTS)
        network(**INPUTS)
    torch.testing.assert_close(ours.attention, expected * 2, rtol=0, atol=0)
    torch.testing.assert_close(others.attention, expected_other, rtol=0, atol=0)


def test_an_inner_observer_replaces_the_outer_one_and_gives_it_back():
    network, outer, inner = tiny_bert(), Shown(), Shown()
    with observed(network, outer):
        with observed(network, inner):
            network(**INPUTS)
        network(**INPUTS)
    assert inner.layers == [0, 1, 2]
    assert outer.layers == [0, 1, 2]
    assert current() == ()
    assert network.config._attn_implementation == "sdpa"


def test_threads_do_not_mix():
    networks = [tiny_bert(seed) for seed in (1, 2)]
    expected = [shown(network) for network in networks]
    found: dict[int, list[Tensor]] = {}
    start = threading.Barrier(2)

    def work(number: int) -> None:
        start.wait(timeout=10)
        for _ in range(20):
            found[number] = shown(networks[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    for number in (0, 1):
        torch.testing.assert_close(found[number], expected[number], rtol=0, atol=0)


def test_a_call_outside_the_context_says_so():
    network = tiny_bert()
    network.set_attn_implementation(NAME)
    with pytest.raises(RuntimeError, match="works only when a model is called within `observed`"):
        network(**INPUTS)


def test_gradients_flow_through():
    network = tiny_bert()
    inputs = network.get_input_embeddings()(INPUTS["input_ids"]).detach().requires_grad_()
    gradients = []
    for context in (lambda: observed(network, Shown()), lambda: torch.enable_grad()):
        with context():
            output = network(inputs_embeds=inputs, attention_mask=INPUTS["attention_mask"])[0]
        gradients.append(torch.autograd.grad(output[0].square().sum(), inputs)[0])
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def states(heads: int = 4) -> Tensor:
    return torch.randn(2, heads, 12, 6, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("keyword", ["s_aux", "indices", "new_thing"])
def test_unknown_keywords_are_refused(keyword):

    unknown: dict[str, Any] = {keyword: torch.ones(4)}
    with watching(PassWatch(Shown())):
        with pytest.raises(
            NotImplementedError, match=f"attention is called with \\['{keyword}'\\], which would be ignored"
        ):
            attend(nn.Identity(), states(), states(), states(), None, **unknown)
        attend(nn.Identity(), states(), states(), states(), None, **dict.fromkeys(unknown))
        attend(nn.Identity(), states(), states(), states(), None, is_causal=False, sliding_window=3, dropout=0.1)


def test_attend_is_softmax_of_scaled_products():
    query, key, value = states(), states(2).flip(2), states(2)
    bias, seen = torch.randn(1, 4, 12, 12, generator=torch.Generator().manual_seed(1)), Shown()
    with watching(PassWatch(seen)):
        output, weights = attend(nn.Identity(), query, key, value, None, 0.3, softcap=1.5, position_bias=bias)
    for example in range(2):
        for head in range(4):
            scores = 1.5 * torch.tanh(query[example, head] @ key[example, head // 2].T * 0.3 / 1.5) + bias[0, head]
            expected = scores.exp() / scores.exp().sum(-1, keepdim=True)
            torch.testing.assert_close(seen.attention[0][example, head], expected)
            torch.testing.assert_close(output[example, :, head], expected @ value[example, head // 2])
    assert weights is None


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1), (5, 12, 128, 128), (3, 4, 700, 700), (2, 12, 8192, 8192), (7, 2, 100, 300)]
)
@pytest.mark.parametrize("some_heads", [False, True])
def test_blocks_cover_every_row_once_in_order_and_stay_small(shape, some_heads):
    examples, heads, queries, keys = shape
    covered = [
        (block[1].start, example, row)
        for block in blocks(*shape, some_heads=some_heads)
        for example in range(examples)[block[0]]
        for row in range(queries)[block[2]]
    ]
    starts = {head for head, _, _ in covered}
    assert some_heads or starts == {0}
    assert sorted(covered) == list(product(sorted(starts), range(examples), range(queries)))
    for start in starts:
        of_heads = [row for row in covered if row[0] == start]
        assert of_heads == sorted(of_heads)
    for block in blocks(*shape, some_heads=some_heads):
        size = keys * prod(part.stop - part.start for part in block)
        assert size <= max(observer.cells_of(observer.CPU), observer.LEAST_ROWS * (1 if some_heads else heads) * keys)


def test_a_lazy_mask_that_is_read_in_another_way_is_noticed(monkeypatch):
    """A model that adds to the mask gets NaN: never a number that looks right."""
    monkeypatch.setattr(attention_mask, "WHOLE_MASK", 0)
    monkeypatch.setattr(
        attention_function, "mask_block", lambda bias, *block: attention_mask.mask_block(bias + 0, *block)
    )
    assert all(attention.isnan().all() for attention in shown(tiny_bert()))


@pytest.mark.parametrize(
    ("settings", "tokenizer_limit", "expected"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, 512, 512),
        ({"model_type": "bert", "max_position_embeddings": 512}, 10**30, 512),
        ({"model_type": "bert", "max_position_embeddings": 512}, 256, 256),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 10**30, 512),
        ({"model_type": "gpt2", "n_positions": 1024}, 10**30, 1024),
        ({"model_type": "modernbert", "max_position_embeddings": 8192}, 8192, 8192),
        ({"model_type": "t5"}, 10**30, 10**9),
        ({"model_type": "xlnet", "max_position_embeddings": -1}, 10**30, 10**9),
    ],
)
def test_the_longest_input(settings, tokenizer_limit, expected):
    config: BertConfig = SimpleNamespace(**settings)  # type: ignore[assignment]
    assert max_tokens(config, tiny_tokenizer(tokenizer_limit)) == expected


def test_rows_of_a_lazy_mask_are_those_of_the_whole_one():
    """Also where they depend on the example, as packed sequences make them."""
    padding = torch.arange(9) < torch.tensor([9, 6, 4])[:, None]
    given: dict[str, Any] = {
        "mask_function": lambda example, head, query, key: key <= query + example,
        "attention_mask": padding,
        "dtype": torch.float32,
        "device": "cpu",
    }
    eager, lazy = eager_mask(3, 9, 9, **given), attention_mask.lazy_mask(3, 9, 9, **given)
    assert lazy is not None and eager is not None
    assert lazy.shape == eager.shape and lazy.isnan().all()
    for examples, queries in ((slice(0, 3), slice(0, 9)), (slice(1, 3), slice(4, 7)), (slice(2, 3), slice(8, 9))):
        expected = eager[examples, :, queries].clamp_min(attention_mask.MASKED)
        assert torch.equal(attention_mask.mask_block(lazy, examples, queries), expected)


def test_no_lazy_mask_where_there_is_nothing_to_mask():
    everything: dict[str, Any] = {"mask_function": bidirectional_mask_function, "allow_is_bidirectional_skip": True}
    assert attention_mask.lazy_mask(2, 9, 9, dtype=torch.float32, device="cpu", **everything) is None

"""The check at load: what it accepts, and bugs planted to see it find them."""

import pytest
import torch
from transformers import AttentionMaskInterface, BertForSequenceClassification, DebertaV2Config, MPNetConfig

from headscope.capture import attention_function, attention_mask, key_ranges, observer, self_check, softmax
from headscope.capture.attention_function import attend
from headscope.capture.key_ranges import ranged_blocks
from headscope.capture.self_check import TOLERANCE
from headscope.capture.watch import PassWatch
from headscope.errors import HeadscopeError
from headscope.models import wrap
from support.shown import shown
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer
from support.tiny_families import tiny_config


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes_pass_the_check(dtype):
    network = tiny_bert().to(dtype)
    assert self_check.check(network).method == "attention interface"
    assert {attention.dtype for attention in shown(network)} == {torch.float32}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes_pass_the_check_at_the_softmax(dtype):
    config = DebertaV2Config(
        vocab_size=172, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32
    )
    assert self_check.check(tiny_network(config).to(dtype)).method == "softmax tap"


def without_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in attention_function.MASKS:
        monkeypatch.setitem(AttentionMaskInterface._global_mapping, name, lambda *shape, **keywords: None)


def without_mask_in_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_function, "mask_block", lambda bias, *block: 0)


def wrong_rows_of_lazy_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = attention_mask._rows
    monkeypatch.setattr(
        attention_mask,
        "_rows",
        lambda make, examples, *block, **given: rows(make, slice(0, examples.stop - examples.start), *block, **given),
    )


def last_block_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "LEAST_ROWS", 5)
    monkeypatch.setattr(observer, "BLOCK_ELEMENTS", 0)
    monkeypatch.setattr(attention_function, "ranged_blocks", lambda *of, **how: list(ranged_blocks(*of, **how))[:-1])


def wrong_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in attention_function.MASKS:
        monkeypatch.setitem(
            attention_function.AttentionInterface._global_mapping, name,
            lambda module, query, *others, **keywords: attend(module, query * 1.01, *others, **keywords),
        )  # fmt: skip


def layers_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped = lambda observer: lambda layer, *block: observer((1, 0, 2)[layer], *block)  # noqa: E731
    monkeypatch.setattr(attention_function, "PassWatch", lambda observer, *rest: PassWatch(swapped(observer), *rest))


def wrong_softmax_of_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "LOG2_E", 1.01 * softmax.LOG2_E)


def one_layer_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for name in attention_function.MASKS:
        monkeypatch.setitem(
            attention_function.AttentionInterface._global_mapping, name,
            lambda *given, **keywords: calls.append(1) or (attend if len(calls) % 3 else plain)(*given, **keywords),
        )  # fmt: skip


def plain(module, query, key, value, attention_mask, scaling=1.0, **keywords):
    scores = query @ key.mT * scaling + (0 if attention_mask is None else attention_mask)
    return (scores.softmax(-1) @ value).transpose(1, 2), None


PLANTED = {
    without_mask: "attention of layer 1 differs from eager",
    without_mask_in_the_function: "attention of layer 1 differs from eager",
    wrong_scale: "attention of layer 1 differs from eager",
    wrong_softmax_of_statistics: "attention of layer 1 differs from eager",
    last_block_dropped: "rows of layer 1 do not sum to 1",
    layers_swapped: "attention of layer 1 differs from eager",
    one_layer_missing: "2 attention calls, expected 3",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_the_check_finds_a_planted_bug(plant, monkeypatch):
    network = tiny_bert()
    plant(monkeypatch)
    with pytest.raises(HeadscopeError) as error:
        self_check.check(network)
    assert f"'bert' cannot be captured exactly (attention interface: {PLANTED[plant]}" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bug_of_lazy_masks_only_leaves_the_whole_ones(blocks_of, monkeypatch):
    wrong_rows_of_lazy_masks(monkeypatch)
    blocks_of(5, 0)
    assert self_check.check(tiny_bert()).method == "attention interface, whole masks"


def test_the_check_finds_a_window_whose_last_key_is_lost(monkeypatch):
    """Also in a model whose window is longer than the check's text."""
    network, of = tiny_network(tiny_config("modernbert", local_attention=128)), key_ranges.KeyRanges.of

    def lost(ranges: key_ranges.KeyRanges, queries: slice) -> slice:
        keys = of(ranges, queries)
        return slice(keys.start, keys.stop - (keys.stop < ranges.keys))

    assert self_check.check(network).method == "attention interface"
    monkeypatch.setattr(key_ranges.KeyRanges, "of", lost)
    with pytest.raises(HeadscopeError, match="attention of layer 2 differs from eager"):
        self_check.check(network)
    assert network.config.sliding_window == 64


def test_the_check_finds_a_softmax_too_many(monkeypatch):
    network = tiny_network(MPNetConfig(vocab_size=172, hidden_size=24, num_hidden_layers=2, num_attention_heads=4))
    monkeypatch.setattr(softmax, "SOFTMAX", softmax.SOFTMAX | {torch.matmul})
    with pytest.raises(HeadscopeError, match="softmax tap: 4 attention calls, expected 2"):
        self_check.check(network)


def test_random_weights_at_their_usual_size_pass():
    network = tiny_bert()
    torch.manual_seed(0)
    network.init_weights()
    assert self_check.check(network).heads == (4, 4, 4)


def test_a_head_is_checked_by_its_logits():
    network = tiny_bert(kind=BertForSequenceClassification)
    model = wrap(network, tiny_tokenizer())
    assert model.network is network
    assert len(shown(network)) == 3


def test_a_wrapped_model_is_set_to_evaluation():
    assert not wrap(tiny_bert().train(), tiny_tokenizer()).network.training


def test_every_dtype_has_a_tolerance():
    assert set(TOLERANCE) == {torch.float16, torch.bfloat16, torch.float32, torch.float64}

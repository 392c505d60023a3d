"""Ranges of visible keys: whatever a mask hides, attention and statistics are those of all keys."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.masking_utils import causal_mask_function, eager_mask, sliding_window_bidirectional_mask_function

from headscope import catalog, read, wrap
from headscope.capture import observer
from headscope.capture.attention_mask import MASKED, lazy_mask
from headscope.capture.fast_attention import fast_attention
from headscope.capture.key_ranges import ROWS, key_ranges, ranged_blocks
from headscope.encoding.encoder import Words
from headscope.measures import SURFACE
from headscope.passes.batches import by_length
from headscope.passes.forward import observing
from headscope.passes.observing import MeasureObserver
from support.tiny import tiny_gpt2, tiny_tokenizer

LENGTH = 40


def band(before: int, after: int, examples: int = 2, padding: int = 3) -> torch.Tensor:
    """Each query sees so many keys before and after it; the last example ends with padding."""
    distance = torch.arange(LENGTH)[None] - torch.arange(LENGTH)[:, None]
    seen = ((distance >= -before) & (distance <= after)).expand(examples, 1, -1, -1).clone()
    seen[-1, :, :, LENGTH - padding :] = False
    return torch.where(seen, 0.0, MASKED)


@st.composite
def masks(draw: st.DrawFn) -> torch.Tensor:
    """Causal, sliding, prefix and packed masks, any mask, and rows without a visible key."""
    before, after = draw(st.integers(0, LENGTH)), draw(st.integers(0, LENGTH))
    mask = band(before, after, padding=draw(st.integers(0, 9)))
    kind = draw(st.sampled_from(["band", "prefix", "packed", "any", "empty"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    if kind == "prefix":
        mask[..., :5] = 0
    if kind == "packed":
        mask[:, :, :17, 17:], mask[:, :, 17:, :17] = MASKED, MASKED
    if kind == "any":
        mask = torch.where(torch.from_numpy(rng.random(mask.shape) < 0.3), 0.0, MASKED)
    if kind == "empty":
        mask[:, :, rng.integers(0, LENGTH, 3)] = MASKED
    return mask


@settings(max_examples=60, deadline=None)
@given(masks(), st.sampled_from([2**7, 2**9, 2**12, 2**19]))
def test_attention_by_ranges_is_that_of_all_keys(mask: torch.Tensor, elements: int) -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 3, LENGTH, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observer, "BLOCK_ELEMENTS", elements)
        patch.setattr(observer, "LEAST_ROWS", 4)
        seen = torch.zeros(2, 3, LENGTH, LENGTH)
        entropies = torch.zeros(2, 3, LENGTH)

        def show(attention, examples, queries, entropy, heads, keys) -> None:
            seen[examples, heads, queries, keys] += attention
            entropies[examples, heads, queries] += entropy()

        output = fast_attention(query, key, value, 0.5, None, None, mask, show)
    expected = (query @ key.mT * 0.5 + mask).softmax(-1)
    torch.testing.assert_close(seen, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(output.transpose(1, 2), expected @ value, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(entropies, torch.special.entr(expected).sum(-1), atol=1e-5, rtol=1e-5)


def test_a_narrow_band_computes_few_cells(blocks_of: Callable[..., None]) -> None:
    blocks_of(4, 2**9)
    found = key_ranges(band(3, 0), 2, LENGTH, LENGTH)
    assert found is not None and max(found.widths(1)) == 4
    cells = sum(
        (queries.stop - queries.start) * (keys.stop - keys.start)
        for _, _, queries, keys in ranged_blocks(found, 1, 1, LENGTH, LENGTH, torch.device("cpu"))
    )
    assert cells < LENGTH * LENGTH / 3


def test_only_columns_that_are_masked_get_a_mask() -> None:
    found, causal = key_ranges(band(LENGTH, 0), 2, LENGTH, LENGTH), slice(8, 12)
    assert found is not None and key_ranges(None, 1, LENGTH, LENGTH) is None
    assert (found.of(causal), found.masked(causal)) == (slice(0, 12), [slice(9, 12)])
    hole = torch.zeros(1, 1, LENGTH, LENGTH)
    hole[..., 7] = MASKED
    holed = key_ranges(hole, 1, LENGTH, LENGTH)
    assert holed is not None and holed.masked(causal) == [slice(7, LENGTH)]


@pytest.mark.parametrize("function", [causal_mask_function, sliding_window_bidirectional_mask_function(5)])
def test_a_mask_that_is_made_in_blocks_has_the_ranges_of_the_whole(function: Callable) -> None:
    length = ROWS + LENGTH
    real = torch.ones(2, length, dtype=torch.bool)
    real[1, length - 7 :] = False
    keywords = {
        "mask_function": function,
        "attention_mask": real,
        "dtype": torch.float32,
        "device": torch.device("cpu"),
    }
    found, eager = (
        key_ranges(make(2, length, length, **keywords), 2, length, length) for make in (lazy_mask, eager_mask)
    )
    for name in ("first", "last", "clear", "end"):
        np.testing.assert_array_equal(getattr(found, name), getattr(eager, name), err_msg=name)


@pytest.mark.parametrize("elements", [2**8, 2**10, 2**19])
def test_heads_that_share_keys_have_those(elements: int, blocks_of: Callable[..., None]) -> None:
    blocks_of(4, elements)
    torch.manual_seed(0)
    query, key, value, mask = torch.randn(2, 6, LENGTH, 4), *torch.randn(2, 2, 2, LENGTH, 4), band(LENGTH, 0)
    seen = torch.zeros(2, 6, LENGTH, LENGTH)

    def show(attention, examples, queries, entropy, heads, keys) -> None:
        seen[examples, heads, queries, keys] += attention

    output = fast_attention(query, key, value, 0.5, None, None, mask, show)
    key, value = (states.repeat_interleave(3, dim=1) for states in (key, value))
    expected = (query @ key.mT * 0.5 + mask).softmax(-1)
    torch.testing.assert_close(seen, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(output.transpose(1, 2), expected @ value, atol=1e-6, rtol=1e-5)


def test_measures_by_ranges_are_those_of_all_keys(blocks_of: Callable[..., None]) -> None:
    model = wrap(tiny_gpt2(0, n_positions=64), tiny_tokenizer(64))
    texts = ["The old dog that they had found slept by the door all day.", "She saw the cat, and the cat saw her."]

    group = next(by_length(Words(model.tokenizer, 64).encode(read(texts)), 512))
    measures = {name: catalog.load("measures", name) for name in [*SURFACE, "_template"]}
    blocks_of(3, 2**6)
    values = []
    for by_ranges in (True, False):
        collector = MeasureObserver(measures)
        collector.key_ranges = by_ranges
        with observing(model, collector) as observe:
            values.append({name: found.values for name, found in observe(group).items()})
    for name in measures:
        torch.testing.assert_close(values[0][name], values[1][name], atol=1e-6, rtol=1e-5, equal_nan=True)

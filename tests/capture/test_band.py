"""Masks of transformers as bands: told by their cells, never by their names."""

import pytest
import torch
from transformers import masking_utils as masks

from headscope.capture.band import FAR, Band, band_of

WINDOWED = masks.sliding_window_causal_mask_function(8)
BOTH = masks.sliding_window_bidirectional_mask_function(8)


@pytest.mark.parametrize(
    ("mask", "band"),
    [
        (masks.bidirectional_mask_function, Band()),
        (masks.causal_mask_function, Band(FAR, 0)),
        (WINDOWED, Band(7, 0)),
        (BOTH, Band(8, 8)),
    ],
)
def test_masks_of_transformers(mask: object, band: Band) -> None:
    found = band_of(mask, 40)  # type: ignore[arg-type]
    seen = torch.as_tensor(mask(0, 0, torch.arange(40)[:, None], torch.arange(40))).expand(40, 40)  # type: ignore[operator]
    assert found is not None and torch.equal(found.of(40), seen)
    assert (found.left, found.right) == (band.left, band.right) or mask is BOTH


def test_a_mask_of_another_shape_is_no_band() -> None:
    assert band_of(masks.chunked_causal_mask_function(8, torch.zeros(1, dtype=torch.int)), 40) is None
    assert band_of(lambda example, head, query, key: (query + key) % 2 == 0, 40) is None
    assert band_of(lambda example, head, query, key: (query >= key) & (key != 3), 40) is None


def test_numbers_that_a_mask_closes_over_tell_it_apart() -> None:
    def within(size: int) -> object:
        return lambda example, head, query, key: abs(query - key) <= size

    assert [band_of(within(size), 30) for size in (2, 5, 2)] == [Band(2, 2), Band(5, 5), Band(2, 2)]  # type: ignore[arg-type]


def test_a_short_input_sees_all() -> None:
    assert band_of(masks.causal_mask_function, 1) == Band(FAR, 0)
    found = band_of(WINDOWED, 5)
    assert found is not None and torch.equal(found.of(5), Band(FAR, 0).of(5))

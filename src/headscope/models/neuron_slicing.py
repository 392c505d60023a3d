"""Cut neurons out of the linear maps of feed-forward parts: fewer rows and columns, in place."""

from collections.abc import Sequence

import torch

from headscope.models.feed_forward import FeedForward
from headscope.models.head_slicing import keep_rows, sizes


def slice_neurons(maps: Sequence[FeedForward], kept: Sequence[Sequence[int]]) -> None:
    """Cut the feed-forward part of each layer down to the neurons `kept`, from 0."""
    for part, some in zip(maps, kept, strict=True):
        if len(some) == part.width:
            continue
        for linear in part.inputs:
            parts = sizes(linear)[1] // part.width
            rows = torch.arange(sizes(linear)[1]).view(parts, part.width)[:, list(some)].flatten()
            keep_rows(linear, rows, inputs=False)
        keep_rows(part.output, torch.tensor(some, dtype=torch.long), inputs=True)

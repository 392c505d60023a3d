"""The attention maps of a few chosen inputs and heads, for people to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch
from headscope.engine.batches import by_length, collate
from headscope.engine.settings import DEFAULTS, Settings
from headscope.models import Model
from headscope.models.encoded import Encoded, class_exists


@dataclass(frozen=True)
class Chosen:
    """A head's map of an input; `layer` and `head` count from 0."""

    encoded: Encoded
    layer: int
    head: int


def maps_of(
    model: Model, chosen: Sequence[Chosen], settings: Settings = DEFAULTS
) -> list[Float[np.ndarray, "query key"]]:
    """The maps in the order in which they were chosen; `settings.progress` is told of each that is done."""
    inputs = [replace(each.encoded, index=index) for index, each in enumerate(chosen)]
    exists, pad = class_exists(model.tokenizer), model.tokenizer.pad_token_id
    observer = _Observer(chosen)
    with torch.inference_mode(), model.observed(observer):
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            observer.batch = collate(
                group, pad=pad if isinstance(pad, int) else 0, class_exists=exists, device=model.device
            )
            model.network(**observer.batch.inputs)
            settings.progress(len(group))
    return [np.concatenate(rows)[: len(each.encoded)] for rows, each in zip(observer.rows, chosen, strict=True)]


class _Observer:
    """Copies the rows of the chosen heads."""

    batch: Batch

    def __init__(self, chosen: Sequence[Chosen]):
        self.chosen, self.rows = chosen, [[] for _ in chosen]

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None = None
    ) -> None:
        for place, index in enumerate(self.batch.index[examples].tolist()):
            each = self.chosen[index]
            if each.layer == layer:
                self.rows[index].append(attention[place, each.head, :, : len(each.encoded)].cpu().numpy())

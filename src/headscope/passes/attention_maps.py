"""The attention maps of a few chosen inputs and heads, for people to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.batches import by_length
from headscope.passes.observing import observing
from headscope.passes.settings import DEFAULTS, Settings


@dataclass(frozen=True)
class MapChoice:
    """A head's map of an input; `layer` and `head` count from 0."""

    encoded: Encoded
    layer: int
    head: int


def attention_maps(
    model: Model, chosen: Sequence[MapChoice], settings: Settings = DEFAULTS
) -> list[Float[np.ndarray, "query key"]]:
    """The maps in the order of `chosen`."""
    inputs = [replace(each.encoded, index=index) for index, each in enumerate(chosen)]
    observer = MapObserver(chosen)
    with observing(model, observer) as observe:
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            observe(group)
            settings.on_progress(len(group))
    return [np.concatenate(rows)[: len(each.encoded)] for rows, each in zip(observer.rows, chosen, strict=True)]


class MapObserver:
    """An observer that copies the rows of the chosen heads."""

    batch: Batch

    def __init__(self, chosen: Sequence[MapChoice]):
        self.chosen, self.rows = chosen, [[] for _ in chosen]

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, *_: object) -> None:
        for place, index in enumerate(self.batch.index[examples].tolist()):
            each = self.chosen[index]
            if each.layer == layer:
                self.rows[index].append(attention[place, each.head, :, : len(each.encoded)].cpu().numpy())

    def finish(self) -> None:
        """See `BatchObserver`; `rows` has the observations of all batches."""

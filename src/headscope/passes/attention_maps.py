"""The attention maps of a few chosen inputs and heads, for people to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.batches import by_length
from headscope.passes.forward import observing
from headscope.passes.observing import RowsObserver
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
    inputs = [replace(example.encoded, index=index) for index, example in enumerate(chosen)]
    observer = MapObserver(chosen)
    with observing(model, observer) as observe:
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            observe(group)
            settings.on_progress(len(group))
    return observer.maps


class MapObserver(RowsObserver):
    """An observer that copies the rows of the chosen heads."""

    def __init__(self, chosen: Sequence[MapChoice]):
        self.chosen = chosen
        self.maps = [np.zeros((len(choice.encoded),) * 2, np.float32) for choice in chosen]

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def add(self, layer: int, rows: Rows) -> None:
        for number, index in enumerate(self.batch.index[rows.examples].tolist()):
            choice, first = self.chosen[index], rows.heads.start if rows.heads else 0
            if choice.layer == layer and first <= choice.head < first + rows.attention.shape[1]:
                part = self.maps[index][rows.queries, rows.keys or slice(None)]
                part[:] = rows.attention[number, choice.head - first, : part.shape[0], : part.shape[1]].cpu().numpy()

    def finish(self) -> None:
        """See `BatchObserver`; `maps` has the observations of all batches."""

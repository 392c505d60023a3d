"""Several models in lockstep: the same block of attention of each at a time.

A forward pass shows its attention to an observer when it likes. Here it runs in a thread of its own that stands
still after every block until the next one is asked for, so that no model is ever further than the others and
memory holds one block of each. Only one thread computes at a time.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch, Rows
from headscope.models import Model


@dataclass(frozen=True)
class Block:
    """What an `Observer` is shown."""

    layer: int
    attention: Float[Tensor, "example head query key"]
    examples: slice
    queries: slice
    scores: Float[Tensor, "example head query key"] | None

    @property
    def place(self) -> tuple[int, slice, slice]:
        """Which part of the attention this is."""
        return self.layer, self.examples, self.queries


class _Stopped(BaseException):
    """Ends a forward pass that nobody waits for any more."""


def together(models: Sequence[Model], batch: Batch) -> Generator[tuple[int, list[Rows]], None, None]:
    """One forward pass of each model: a layer, and the same rows of its attention in each of them.

    The iterator has to be closed if it is not read to its end, else its threads stand still until the program ends.

    Raises `RuntimeError` where models show other blocks than the first, and whatever goes wrong in a forward pass.
    """
    with ExitStack() as running:
        passes = [running.enter_context(closing(blocks(model, batch))) for model in models]
        for first, *others in zip(*passes, strict=True):
            if any(other.place != first.place for other in others):
                raise RuntimeError(f"models show different blocks: {[block.place for block in (first, *others)]}")
            yield first.layer, [_rows(block, batch) for block in (first, *others)]


def blocks(model: Model, batch: Batch) -> Generator[Block, None, None]:
    """One forward pass of a model as an iterator over its blocks of attention; it computes up to the one asked for.

    The iterator has to be closed if it is not read to its end.
    """
    shown: SimpleQueue[Block | BaseException | None] = SimpleQueue()
    wanted: SimpleQueue[bool] = SimpleQueue()

    def show(*block) -> None:
        shown.put(Block(*block))
        if not wanted.get():
            raise _Stopped

    def forward() -> None:
        try:
            # Inference mode belongs to a thread, and so do the contexts that a forward pass is observed in.
            with torch.inference_mode(), model.observed(show) as watch:
                model.network(**batch.inputs)
            if watch.calls != (layers := len(model.capture.heads)):
                raise RuntimeError(f"{watch.calls} attention calls in a forward pass, expected {layers}")
            shown.put(None)
        except BaseException as error:
            shown.put(error)

    thread = Thread(target=forward, name=f"headscope: {model.name}", daemon=True)
    try:
        thread.start()
        while (block := shown.get()) is not None:
            if isinstance(block, BaseException):
                raise block
            yield block
            wanted.put(True)
    finally:
        wanted.put(False)
        if thread.ident is not None:  # else Ctrl-C came before it ran
            thread.join()


def _rows(block: Block, batch: Batch) -> Rows:
    return Rows(block.attention, batch, block.examples, block.queries, block.scores)

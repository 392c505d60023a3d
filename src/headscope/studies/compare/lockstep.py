"""Forward passes of several models in lockstep, block by block of attention.

Each forward pass runs in a thread of its own, which stops after every block until the next one is requested. So memory
holds one block of each model, and only one thread computes at a time.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.observer import RowEntropy
from headscope.encoding.batch import Batch, Rows
from headscope.models import Model
from headscope.passes.finite_attention import FiniteAttention


@dataclass(frozen=True)
class AttentionBlock:
    """The arguments of an `Observer`: a block of attention rows of one layer."""

    layer: int
    attention: Float[Tensor, "example head query key"]
    examples: slice
    queries: slice
    entropy: RowEntropy | None
    heads: slice

    @property
    def place(self) -> tuple[int, slice, slice]:
        """Layer, examples and queries of the block."""
        return self.layer, self.examples, self.queries


class _Stopped(BaseException):
    """Ends an abandoned forward pass."""


def lockstep(models: Sequence[Model], batch: Batch) -> Generator[tuple[int, list[Rows]], None, None]:
    """Run one forward pass of each model; yield a layer and the same attention rows of each model at a time.

    Close the iterator if it is not read to the end, else its threads wait until the program ends.

    Raises `RuntimeError` if a model yields other blocks than the first, and any error of a forward pass.
    """
    with ExitStack() as running:
        passes = [running.enter_context(closing(blocks(model, batch))) for model in models]
        for first, *others in zip(*passes, strict=True):
            if any(other.place != first.place for other in others):
                raise RuntimeError(f"models show different blocks: {[block.place for block in (first, *others)]}")
            yield first.layer, [_rows(block, batch) for block in (first, *others)]


def blocks(model: Model, batch: Batch) -> Generator[AttentionBlock, None, None]:
    """Run one forward pass of a model as an iterator over its blocks of attention, computed on request.

    Close the iterator if it is not read to the end.
    """
    computed: SimpleQueue[AttentionBlock | BaseException | None] = SimpleQueue()
    wanted: SimpleQueue[bool] = SimpleQueue()

    def observe(*block) -> None:
        computed.put(AttentionBlock(*block))
        if not wanted.get():
            raise _Stopped

    def forward() -> None:
        try:
            # Inference mode belongs to a thread, and so do the contexts that a forward pass is observed in.
            with torch.inference_mode(), model.observed(finite) as watch:
                model.network(**batch.inputs)
                finite.refuse()
            if watch.calls != (layers := len(model.capture.heads)):
                raise RuntimeError(f"{watch.calls} attention calls in a forward pass, expected {layers}")
            computed.put(None)
        except BaseException as error:
            computed.put(error)

    finite = FiniteAttention(model, observe)
    finite.start(batch)
    thread = Thread(target=forward, name=f"headscope: {model.name}", daemon=True)
    try:
        thread.start()
        while (block := computed.get()) is not None:
            if isinstance(block, BaseException):
                raise block
            yield block
            wanted.put(True)
    finally:
        wanted.put(False)
        if thread.ident is not None:  # else Ctrl-C came before it ran
            thread.join()


def _rows(block: AttentionBlock, batch: Batch) -> Rows:
    return Rows(block.attention, batch, block.examples, block.queries, block.entropy)

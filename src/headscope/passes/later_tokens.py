"""Whether the tokens of a model look at those after them, as its attention shows: a causal model's do not."""

import torch
from torch import Tensor

from headscope.encoding.batch import Batch, BlockIndex, Rows
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Sentence
from headscope.models import Model
from headscope.passes.forward import Forward
from headscope.passes.observing import RowsObserver

TEXT = Example("later tokens", (Sentence("one two three four five six"),))


def looks_ahead(model: Model) -> bool:
    """Whether some head of a model gives a later token any attention; one short text is read.

    >>> from headscope import load
    >>> looks_ahead(load("minilm"))
    True
    """
    (encoded,) = Words(model.tokenizer, model.max_tokens, "truncate").encode([TEXT])
    return Forward(model, _LaterObserver()).observe([encoded])


class _LaterObserver(RowsObserver):
    """Notes whether any attention goes to a later token."""

    def start(self, batch: Batch) -> None:
        """Forget the batch before."""
        self.batch, self.found = batch, False

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`."""
        self.found |= bool(((rows.attention > 0) & rows.block.once(_later)).any())

    def finish(self) -> bool:
        """Whether there was any."""
        return self.found


def _later(block: BlockIndex) -> Tensor:
    queries, keys = (torch.arange(part.start, part.stop) for part in (block.queries, block.keys))
    return (keys > queries[:, None]).to(block.batch.real.device)

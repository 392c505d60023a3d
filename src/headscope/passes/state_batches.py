"""Batches with their hidden states."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.hidden_states import hidden_states
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.batches import collator

StateBatch = tuple[Batch, Float[Tensor, "space example token width"]]


def state_batches(model: Model) -> Callable[[list[Encoded]], StateBatch]:
    """A function that runs a group of inputs. Returns: the batch; its embeddings, then the output of each layer."""
    collate = collator(model)

    def read(group: list[Encoded]) -> StateBatch:
        batch = collate(group)
        return batch, torch.stack(hidden_states(model.network, batch.inputs))

    return read

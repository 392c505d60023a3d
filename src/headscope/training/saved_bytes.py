"""How much memory a forward pass keeps for its backward pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

# Of a weight in float32, and of a trained one beside it: its gradient and the two moments of Adam.
BYTES, FURTHER = 4, 12


@contextmanager
def saved_bytes(network: nn.Module) -> Iterator[Callable[[], int]]:
    """A context whose function says how many bytes its passes have kept so far; those of the weights do not count."""
    weights = {weight.untyped_storage().data_ptr() for weight in network.parameters()}
    sizes: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        yield lambda: sum(sizes.values())


def trained_weights(network: nn.Module) -> int:
    """The number of trained parameters."""
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad)


def state_bytes(network: nn.Module) -> int:
    """The bytes of all weights in float32, and of gradients and moments of the trained ones."""
    return BYTES * sum(weight.numel() for weight in network.parameters()) + FURTHER * trained_weights(network)

"""Hidden states of all layers in one forward pass."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from headscope.capture.attention_switch import fast
from headscope.capture.spread import home
from headscope.errors import HeadscopeError


def hidden_states(
    network: PreTrainedModel, inputs: Mapping[str, Tensor]
) -> tuple[Float[Tensor, "example token width"], ...]:
    """Run a forward pass; return the embeddings that enter the first layer, then the output of each layer.

    The last layer's are those after the final normalisation, where a model has one. A task head is not run.

    Raises `HeadscopeError` for a model whose layers have different widths.
    """
    with fast(network):
        states = network.base_model(**inputs, output_hidden_states=True).hidden_states
    if len({state.shape[-1] for state in states}) > 1:
        kind, widths = network.config.model_type, sorted({state.shape[-1] for state in states})
        raise HeadscopeError(f"model type '{kind}': its layers have different widths {widths}; use another model")
    return tuple(state.to(home(network)) for state in states)

"""A shallow model whose layers are stacked half way through the training (Gong et al. 2019, section 4)."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

from torch import nn
from transformers import PreTrainedModel, TrainerCallback, TrainerState

from headscope.encoding.encoded import Encoded
from headscope.models import Model, wrap
from headscope.passes import Settings
from headscope.training.course import attention_numbers


class LowerLayers(nn.ModuleList):
    """Layers of which a pass runs the first ones alone."""

    run = 0

    def __iter__(self) -> Iterator[nn.Module]:
        return islice(super().__iter__(), self.run)


class Stacking(TrainerCallback):
    """Trains the lower half of a network's layers for half of the steps, then copies it on top, and trains all.

    The upper half has no gradient before, and so no update. Adam's moments are copied, too.
    """

    def __init__(self, network: PreTrainedModel, steps: int):
        self.layers: Any = network.base_model.get_submodule("encoder.layer")
        self.layers.__class__ = LowerLayers
        self.step, self.half = max(1, steps // 2), len(self.layers) // 2
        self.layers.run = self.half

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Run the layers that the step has, also of a checkpoint."""
        self.layers.run = self.half if state.global_step < self.step else len(self.layers)

    def on_step_end(self, args: Any, state: TrainerState, control: Any, *, optimizer: Any = None, **_: Any) -> None:
        """Stack the layers after half of the steps."""
        if state.global_step != self.step:
            return
        layers = [*self.layers.children()]
        for lower, upper in zip(layers[: self.half], layers[self.half :], strict=True):
            upper.load_state_dict(lower.state_dict())
            for before, after in zip(lower.parameters(), upper.parameters(), strict=True):
                optimizer.state[after] = deepcopy(optimizer.state[before])
        self.layers.run = len(self.layers)

    def attention_numbers(self, model: Model, inputs: Sequence[Encoded], settings: Settings) -> dict[str, list]:
        """As of all layers; those of the lower half are there twice as long as it is alone."""
        if self.layers.run == len(self.layers):
            return attention_numbers(model, inputs, settings)
        lower = wrap(lower_half(model.network), model.tokenizer)
        return {name: 2 * heads for name, heads in attention_numbers(lower, inputs, settings).items()}


def lower_half(network: PreTrainedModel) -> PreTrainedModel:
    """A copy of a BERT with the lower half of its layers."""
    copied = deepcopy(network)
    vars(copied).pop("forward", None)  # in mixed precision that of the network itself
    half = copied.config.num_hidden_layers // 2
    layers = nn.ModuleList(copied.base_model.get_submodule("encoder.layer").children())
    copied.base_model.set_submodule("encoder.layer", layers[:half])
    copied.config.num_hidden_layers = half
    return copied

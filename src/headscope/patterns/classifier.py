"""Which of the five patterns a map shows: a small convolutional network on its grid.

Kovaleva et al. 2019, section 4.1, whose network of 8 convolutional layers with ReLU was never released.
"""

import json
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from headscope.errors import HeadscopeError
from headscope.patterns.channels import N_CHANNELS, channels
from headscope.results import PATTERNS

# Of each layer: output channels, stride.
LAYERS = ((16, 2), (16, 1), (16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (32, 1))
WEIGHTS = "weights.safetensors"
# Maps at a time: their channels stay in the processor's cache.
AT_ONCE = 128


class Classifier(nn.Module):
    """8 convolutional layers with ReLU, mean and maximum over the grid, and a linear layer.

    * `card`: what the weights were trained on, and how well they do; see `train`.
    * `temperature`: what logits are divided by, so that probabilities are calibrated.
    """

    temperature: Tensor

    def __init__(self, card: dict[str, Any] | None = None, normalised: bool = False):
        """`normalised` puts batch normalisation after each convolution, for training."""
        super().__init__()
        self.card = card or {}
        layers: list[nn.Module] = []
        inputs = N_CHANNELS
        for outputs, stride in LAYERS:
            layers.append(nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=not normalised))
            layers += [nn.BatchNorm2d(outputs), nn.ReLU()] if normalised else [nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers)
        self.dropout = nn.Dropout(0.2)
        self.output = nn.Linear(2 * inputs, len(PATTERNS))
        self.register_buffer("temperature", torch.ones(()))
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, seen: Float[Tensor, "map channel row column"]) -> Float[Tensor, "map pattern"]:
        """The logits of the patterns, from what `channels` makes of grids."""
        found = self.layers(seen.contiguous(memory_format=torch.channels_last))
        return self.output(self.dropout(torch.cat([found.mean((2, 3)), found.amax((2, 3))], dim=1)))

    @torch.inference_mode()
    def classify(self, grids: Float[Tensor, "map channel row column"]) -> Float[Tensor, "map pattern"]:
        """The probability of each pattern of `results.PATTERNS`, from grids as `grid.pool` makes them.

        >>> from headscope.patterns.grid import pool
        >>> identity = pool(torch.eye(24)[None, None], torch.full((1, 24), 3))[:, 0]
        >>> PATTERNS[load().classify(identity).argmax()]
        'diagonal'
        """
        logits = [self(channels(part.float())) for part in grids.split(AT_ONCE)]
        return (torch.cat([grids.new_zeros(0, len(PATTERNS)), *logits]) / self.temperature).softmax(-1)


@cache
def load(path: Path | None = None, device: str | torch.device = "cpu") -> Classifier:
    """The classifier that comes with headscope, or one that `train` has written to a file.

    Raises `HeadscopeError` if the file is not one.
    """
    if path is None:
        with as_file(files("headscope.patterns") / WEIGHTS) as shipped:
            return load(shipped, device)
    try:
        with safe_open(path, "pt") as stored:
            classifier = Classifier(json.loads(stored.metadata()["card"]))
            classifier.load_state_dict({name: stored.get_tensor(name) for name in stored.keys()})
    except (OSError, SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise HeadscopeError(
            f"'{path}' is not a classifier of patterns: {error}; name one that --train wrote"
        ) from error
    return classifier.eval().requires_grad_(False).to(device)

"""Classifier of the five patterns of a map: a small convolutional network on its grid, and numbers of its lines.

Kovaleva et al. 2019, section 4.1, have 8 convolutional layers with ReLU (code and labelled maps: Prasanna, Rogers and
Rumshisky 2020; no weights). The layers here are other ones. A second branch takes what the eye judges lines by: with a
few hundred labelled maps it tells more than convolutions alone.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.fusion import fuse_conv_bn_eval

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.line_features import N_NUMBERS, numbers
from headscope.studies.heads.patterns.picture import N_CHANNELS, channels, pictures

# Of each convolution: output channels, stride.
LAYERS = ((16, 2), (16, 1), (16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (32, 1))
HIDDEN = 128
# Of each kind; they differ by their initial weights and by dropout, and are better together than alone.
JUDGES = 4
WEIGHTS = Path(__file__).with_name("weights.safetensors")
# Maps at a time: their channels stay in the processor's cache.
AT_ONCE = 128
# Numbers further from their mean than this many standard deviations count as no further.
FAR = 2.5
# Noise on them in training, in standard deviations.
JITTER = 0.2


class Classifier(nn.Module):
    """8 convolutions with ReLU, pooled over the grid, and line features, read by an ensemble of judges.

    Half of the judges read both, half the numbers alone; the logits are the mean of theirs. One more judge reads the
    output of the convolutions alone; it only helps them to learn.

    * `card`: data, recipe and scores of the weights; see `train`.
    * `temperature`: divisor of the logits that calibrates the probabilities.
    * `rates`: what each pattern's odds are multiplied by, so that shares over random maps are those of the labels.
    """

    temperature: Tensor
    rates: Tensor

    def __init__(self, card: dict[str, Any] | None = None):
        super().__init__()
        self.card = card or {}
        layers: list[nn.Module] = []
        inputs = N_CHANNELS
        for outputs, stride in LAYERS:
            layers += [nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.normalised = nn.BatchNorm1d(N_NUMBERS, affine=False)
        self.of_both = nn.ModuleList(_judge(2 * inputs + N_NUMBERS) for _ in range(JUDGES))
        self.of_numbers = nn.ModuleList(_judge(N_NUMBERS) for _ in range(JUDGES))
        self.of_cells = nn.Linear(2 * inputs, len(PATTERNS))
        self.register_buffer("temperature", torch.ones(()))
        self.register_buffer("rates", torch.ones(len(PATTERNS)))

    def forward(
        self, cells: Float[Tensor, "map channel row column"], lines: Float[Tensor, "map number"]
    ) -> Float[Tensor, "map pattern"]:
        """The logits of the patterns, from the `channels` and the `numbers` of maps."""
        return self.judged(cells, lines)[:-1].mean(0)

    def judged(
        self, cells: Float[Tensor, "map channel row column"], lines: Float[Tensor, "map number"]
    ) -> Float[Tensor, "judge map pattern"]:
        """Logits of each member of the ensemble: of cells and line features, of line features alone, of cells alone."""
        activations = self.layers(cells.contiguous(memory_format=torch.channels_last))
        pooled = torch.cat([activations.mean((2, 3)), activations.amax((2, 3))], dim=1)
        lines = self.normalised(lines).clamp(-FAR, FAR)
        if self.training:
            lines = lines + JITTER * torch.randn_like(lines)
        both = torch.cat([dropout(pooled, 0.4, self.training), lines], dim=1)
        logits = [*(judge(both) for judge in self.of_both), *(judge(lines) for judge in self.of_numbers)]
        return torch.stack([*logits, self.of_cells(pooled)])

    @torch.inference_mode()
    def classify(self, grids: Float[Tensor, "map channel row column"]) -> Float[Tensor, "map pattern"]:
        """The probability of each pattern of `results.PATTERNS`, from grids as `grid.pool` makes them.

        >>> from headscope.studies.heads.patterns.grid import pool
        >>> identity = pool(torch.eye(24)[None, None], torch.full((1, 24), 3))[:, 0]
        >>> PATTERNS[load().classify(identity).argmax()]
        'diagonal'
        """
        if not len(grids):
            return grids.new_zeros(0, len(PATTERNS))
        logits = torch.cat([self._logits(part) for part in grids.split(AT_ONCE)])
        return (logits / self.temperature).softmax(-1)

    def natural(self, probability: Float[Tensor, "*map pattern"]) -> Float[Tensor, "*map pattern"]:
        """Probabilities at the natural rate of each pattern, whose mean is its share of random maps.

        Among the maps that a classifier learns from, rare patterns are more or less frequent than among random maps.
        """
        weighed = probability * self.rates
        return weighed / weighed.sum(-1, keepdim=True)

    def _logits(self, grids: Float[Tensor, "map channel row column"]) -> Float[Tensor, "map pattern"]:
        maps = pictures(grids)
        return self(channels(maps), numbers(maps))

    def fused(self) -> "Classifier":
        """This classifier, for use alone, with each convolution and its normalisation made one."""
        self.eval().requires_grad_(False)
        for index in range(0, len(self.layers), 3):
            self.layers[index] = fuse_conv_bn_eval(self.layers[index], self.layers[index + 1])  # type: ignore[arg-type]
            self.layers[index + 1] = nn.Identity()
        return self


@cache
def load(path: Path | None = None, device: str | torch.device = "cpu") -> Classifier:
    """The classifier that comes with headscope, or one that `train` has written to a file.

    Raises `HeadscopeError` if the file is not one.
    """
    path = path or WEIGHTS
    try:
        with safe_open(path, "pt") as stored:
            classifier = Classifier(json.loads(stored.metadata()["card"]))
            classifier.load_state_dict({name: stored.get_tensor(name) for name in stored.keys()})
    except (OSError, SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        remedy = "name weights that training wrote (docs/labelling.md)"
        raise HeadscopeError(f"'{path}' is not a classifier of patterns: {reason}; {remedy}") from error
    return classifier.fused().to(device)


def _judge(inputs: int) -> nn.Sequential:
    hidden, logits = nn.Linear(inputs, HIDDEN), nn.Linear(HIDDEN, len(PATTERNS))
    return nn.Sequential(nn.Dropout(0.1), hidden, nn.ReLU(), nn.Dropout(0.4), logits)

"""What each head and layer adds to the logit of the right piece: its direct contribution.

Elhage et al. 2021: with the division of each normalisation held at what it was at the token, a logit is a sum over the
embeddings, heads, feed-forward parts and biases. A mean logit is taken away from it, which a softmax does not see: that
of the vocabulary, and for a `gain` that of the pieces of the texts, each as often as it is the right one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.attention_switch import fast
from headscope.models import Model
from headscope.models.normalisations import linear_norm, modules_seen
from headscope.models.residual_writes import LayerWrites, ResidualWrites
from headscope.outputs.words.inputs import PredictedPieces
from headscope.outputs.words.read_texts import ReadTexts
from headscope.passes.settings import Settings

Contributions = dict[str, Float[np.ndarray, "*part prediction"]]
# For the logit less each of two means.
Directions = Float[Tensor, "mean prediction hidden"]
States = Float[Tensor, "prediction hidden"]
# Of the sum of all absolute contributions, and in rounding errors of the weights.
CLOSE, ROUNDED = 1e-5, 20


def contributions(
    model: Model, writes: ResidualWrites, texts: ReadTexts, tokens: int, settings: Settings
) -> Contributions | str:
    """Contributions to the logits of all right pieces of some texts, and lengths; see the numbers of these names.

    * `tokens`: most tokens of a batch.

    Returns: a reason where they do not add up to the logits.
    """
    outputs: Any = model.network.get_output_embeddings()
    targets, counts = np.unique(np.concatenate([text.ids[text.places] for text in texts.texts]), return_counts=True)
    shares = torch.from_numpy(counts / counts.sum()).to(outputs.weight)
    with torch.inference_mode():
        means = torch.stack([outputs.weight.mean(0), shares @ outputs.weight[targets]])
        biases = None if outputs.bias is None else torch.stack([outputs.bias.mean(), shares @ outputs.bias[targets]])
        parts = []
        for part in texts.parts(model, tokens):
            parts.append(_Read(model, writes, part, means, biases).contributions())
            settings.on_progress(len(part.target))
    joined = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
    if not (joined.pop("error") <= 1).all():
        return "what its parts write does not add up to its logits; --dtype float32 rounds less"
    return joined


@dataclass(frozen=True)
class _Read:
    """A batch: each prediction with the states at its token.

    * `means`, `biases`: means of the output embeddings, and of their biases: over the vocabulary, and over the texts.
    """

    model: Model
    writes: ResidualWrites
    part: PredictedPieces
    means: Float[Tensor, "mean hidden"]
    biases: Float[Tensor, " mean"] | None

    def contributions(self) -> Contributions:
        """The contributions of all parts; `error`: how far they are from the logit, 1 for what may be rounding."""
        directions, constant = self._directions
        rows = [self._of_layer(layer, directions) for layer in self.writes.layers]
        heads, bias, feed_forward, lengths = zip(*rows, strict=True)
        embedding, logit = (_along(directions, states) for states in (self._embedded, self._last))
        totals = embedding + sum(feed_forward) + sum(bias) + sum(layer.sum(-1) for layer in heads) + constant
        size = sum(part.abs() for part in (embedding, logit, *feed_forward, *bias)) + 1
        close = CLOSE + ROUNDED * torch.finfo(self.model.network.dtype).eps
        numbers = {
            "direct_head": _by_head([layer[0] for layer in heads]),
            "direct_head_gain": _by_head([layer[1] for layer in heads]),
            "direct_feed_forward": torch.stack([layer[0] for layer in feed_forward]),
            "direct_embedding": embedding[0],
            "direct_bias": sum(layer[0] for layer in bias) + constant[0],
            "direct_logit": totals[0],
            "direct_logit_gain": totals[1],
            "write_length": _by_head(lengths),
            "error": ((totals - constant - logit).abs() / (close * size)).amax(0),
        }
        return {name: values.double().cpu().numpy() for name, values in numbers.items()}

    @cached_property
    def _seen(self) -> dict[Any, tuple[Tensor, Tensor]]:
        """What enters modules and what leaves them, at the token of each prediction."""
        part, layers = self.part, self.writes.stack.layers
        modules: list[Any] = [layers[0], layers[-1]]
        for layer in self.writes.layers:
            modules += [layer.attention.projections.output, layer.attention.module, layer.feed_forward]

        def at_reads(states: Tensor) -> Tensor:
            chosen = states.reshape(*part.ids.shape, -1)[part.row, part.token][part.read]
            return chosen.to(torch.promote_types(chosen.dtype, torch.float32))

        with fast(self.model.network), modules_seen(dict.fromkeys(modules), at_reads) as seen:
            self.model.network.base_model(**part.inputs(self.model.device, self.model.network.dtype))
        return seen

    @property
    def _embedded(self) -> States:
        return self._seen[self.writes.stack.layers[0]][0]

    @property
    def _last(self) -> States:
        return self._seen[self.writes.stack.layers[-1]][1]

    @property
    def _directions(self) -> tuple[Directions, Float[Tensor, "mean prediction"]]:
        """Directions in the last states whose products with these are the logits, but for a constant."""
        outputs: Any = self.model.network.get_output_embeddings()
        last, norm = self._last, self.writes.last
        wanted = (outputs.weight[self.part.target] - self.means[:, None]).to(last)
        constant = wanted.new_zeros(wanted.shape[:-1])
        if self.biases is not None:
            constant = constant + outputs.bias[self.part.target] - self.biases[:, None]
        if norm is not None:
            linear = linear_norm(norm, outputs.weight[0])
            constant = constant + _along(wanted, linear.bias)
            wanted = linear.back(wanted) * linear.scale(last, norm(last.to(outputs.weight)).to(last))
        return self.writes.factor * wanted, self.writes.factor * constant

    def _of_layer(self, layer: LayerWrites, directions: Directions) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The contributions of heads, of biases, and of the feed-forward part; lengths of what heads write."""
        attention, factor = layer.attention, layer.factor
        contexts = self._seen[attention.projections.output][0].unflatten(-1, (attention.projections.heads, -1))
        maps, scale = attention.maps.to(contexts), directions.new_full((1, 1), factor)
        bias = torch.zeros_like(directions[..., 0])
        if attention.linear:
            scale = factor * attention.linear.scale(*self._seen[attention.module])
            bias = factor * _along(directions, attention.linear.bias)
        scaled = directions * scale
        bias = bias + _along(scaled, attention.bias)
        heads = (torch.einsum("mpd,hdw->mphw", scaled, maps) * contexts).sum(-1)
        squared = torch.einsum("phw,hwv,phv->ph", contexts, maps.mT @ maps, contexts)
        feed_forward = factor * _along(directions, self._seen[layer.feed_forward][1])
        return heads, bias, feed_forward, squared.clamp_min(0).sqrt() * scale.abs()


def _along(directions: Directions, states: Tensor) -> Float[Tensor, "mean prediction"]:
    return (directions * states).sum(-1)


def _by_head(layers: Any) -> Float[Tensor, "layer head prediction"]:
    """The heads of all layers, NaN where a layer has fewer than another."""
    most = max(layer.shape[-1] for layer in layers)
    padded = [torch.nn.functional.pad(layer, (0, most - layer.shape[-1]), value=torch.nan) for layer in layers]
    return torch.stack(padded).mT

"""What neurons, heads and embeddings add to the states, and the output map that makes up for removed neurons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headscope.capture.attention_switch import fast
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.embedding_width import EmbeddingBasis, basis_of, refuse_others, rows_of
from headscope.models.feed_forward import FeedForward, entering
from headscope.models.removable_parts import Kept, Numbers, RemovableParts
from headscope.models.smaller import cut
from headscope.passes.batches import batches
from headscope.passes.settings import Settings

Weights = tuple[Tensor, Tensor | None]
# Rows of embeddings that no text reads count as if read so often, so that they decide where no other does.
UNREAD = 0.1


@dataclass
class Moments:
    """Sums over tokens of the activations of a layer's neurons, and of their products."""

    count: int
    sums: Float[Tensor, " neuron"]
    products: Float[Tensor, "neuron neuron"]

    def add(self, rows: Float[Tensor, "token neuron"]) -> None:
        """Add the activations of some tokens."""
        self.count += len(rows)
        self.sums += rows.sum(0, dtype=torch.float64)
        self.products += (rows.T @ rows).double()

    @property
    def mean(self) -> Float[Tensor, " neuron"]:
        """Mean activation."""
        return self.sums / max(self.count, 1)

    @property
    def covariance(self) -> Float[Tensor, "neuron neuron"]:
        """Covariance of the activations."""
        return self.products / max(self.count, 1) - self.mean[:, None] * self.mean


def moments_of(model: Model, parts: RemovableParts, inputs: Sequence[Encoded], settings: Settings) -> list[Moments]:
    """The moments of each layer's neurons over the tokens of some inputs; none where neurons cannot be found."""
    maps, doubles = parts.feed_forward or (), partial(torch.zeros, dtype=torch.float64)
    moments = [Moments(0, doubles(part.width), doubles(part.width, part.width)) for part in maps]

    def see(layer: int, activations: Tensor, real: Bool[Tensor, "example token"]) -> None:
        rows = activations[real] if activations.shape[:2] == real.shape else activations.flatten(0, -2)
        moments[layer].add(rows.float().cpu())

    if maps:
        _pass([part.output for part in maps], see, model, inputs, settings)
    return moments


def _pass(
    outputs: Sequence[nn.Module], see: Callable[..., None], model: Model, inputs: Sequence[Encoded], settings: Settings
) -> None:
    """Read some inputs; `see(layer, values, real)` is called where values enter an output map."""
    for batch in batches(model, inputs, settings):
        seen = entering(outputs, partial(see, real=batch.real))
        with torch.inference_mode(), fast(model.network), seen:
            model.network(**batch.inputs)


def added(part: FeedForward, moments: Moments) -> Float[np.ndarray, " neuron"]:
    """Variance of what each neuron adds to the states: of its activation, times the squared norm of its weights."""
    weight, _ = written(part.output)
    return (moments.covariance.diagonal() * weight.square().sum(0)).numpy()


def fitted(part: FeedForward, moments: Moments, kept: Sequence[int], ridge: float) -> Weights:
    """The output map over the kept neurons whose outputs are closest to those of all neurons, by least squares.

    A ridge draws the weights towards the old ones: `ridge` is its weight, as a share of the mean variance of the kept
    neurons. With a bias the activations are centred; without any neuron it is the mean output.

    Returns: the weight [output, neuron] and the bias, if the map has one.
    """
    weight, bias = written(part.output)
    if not len(kept):
        return weight[:, :0], None if bias is None else bias + weight @ moments.mean
    stay = torch.tensor(kept)
    gone = torch.ones(part.width, dtype=torch.bool)
    gone[stay] = False
    second = moments.covariance if bias is not None else moments.products / max(moments.count, 1)
    within = second[stay][:, stay]
    strength = ridge * within.diagonal().mean().clamp_min(1e-12)
    within = within + strength * torch.eye(len(stay), dtype=within.dtype)
    # [output, gone] [gone, stay] [stay, stay]^-1
    more = torch.linalg.solve(within, (weight[:, gone] @ second[gone][:, stay]).T).T
    smaller = weight[:, stay] + more
    if bias is not None:
        bias = bias + weight @ moments.mean - smaller @ moments.mean[stay]
    return smaller, bias


def written(linear: Any) -> Weights:
    """The weight [output, input] and the bias of a linear map, in double precision on the processor."""
    weight = linear.weight.detach().cpu().double()
    bias = None if linear.bias is None else linear.bias.detach().cpu().double()
    return weight if isinstance(linear, nn.Linear) else weight.T, bias


def ranked(values: Sequence[Float[np.ndarray, " part"]], numbers: Sequence[int], together: int = 1) -> Numbers:
    """This number of parts of each layer, with the largest values, in ascending order; of equal ones the first.

    * `together`: how many neighbours stay or go together, by the sum of their values.

    >>> ranked([np.array([0.1, 0.3, 0.2]), np.array([0.2, 0.1])], [2, 1])
    ((1, 2), (0,))
    >>> ranked([np.array([0.1, 0.5, 0.4, 0.4])], [2], together=2)
    ((2, 3),)
    """
    sums = [layer.reshape(-1, together).sum(1).repeat(together) for layer in values]
    both = zip(sums, numbers, strict=True)
    return tuple(tuple(sorted(np.argsort(-layer, kind="stable")[:number].tolist())) for layer, number in both)


def added_by_heads(model: Model, inputs: Sequence[Encoded], settings: Settings) -> list[Float[np.ndarray, " head"]]:
    """The mean square of what each head adds to the states of a token."""
    maps = model.projections
    sums = [np.zeros(projection.heads) for projection in maps]

    def see(layer: int, contexts: Tensor, real: Bool[Tensor, "example token"]) -> None:
        weight, _ = written(maps[layer].output)
        width = maps[layer].width
        for head in range(maps[layer].heads):
            columns = slice(head * width, (head + 1) * width)
            added = contexts[real][:, columns].cpu().double() @ weight[:, columns].T
            sums[layer][head] += float(added.square().sum())

    _pass([part.output for part in maps], see, model, inputs, settings)
    return sums


def embedding_basis(model: Model, inputs: Sequence[Encoded], pieces: tuple[int, ...] | None) -> EmbeddingBasis:
    """The directions of narrower embeddings of a model, with the pieces that stay.

    * `inputs`: texts by which rows of the tables count.

    Raises `HeadscopeError` for a model of which no ordinary class has embeddings of another width.
    """
    refuse_others(model)
    kept = model if pieces is None else cut(model, Kept(pieces=pieces))
    return basis_of(model, row_counts(model, inputs), sum(rows_of(kept)))


def row_counts(model: Model, inputs: Sequence[Encoded]) -> list[Float[np.ndarray, " row"]]:
    """How often the inputs read each row of the tables of words, positions and segments, and a little more."""
    words, positions, segments = counts = [np.full(rows, UNREAD) for rows in rows_of(model)]
    for encoded in inputs:
        ids = encoded.inputs["input_ids"]
        np.add.at(words, ids, 1)
        positions[: len(ids)] += 1
        np.add.at(segments, encoded.inputs.get("token_type_ids", np.zeros_like(ids)), 1)
    return counts

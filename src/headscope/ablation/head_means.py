"""The mean output of each head over a corpus: the replacement of a disabled head in mode "mean"."""

from collections.abc import Iterable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.attention_switch import fast
from headscope.capture.projections import at_contexts
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.batches import batches
from headscope.passes.settings import DEFAULTS, Settings


def head_means(
    model: Model, inputs: Iterable[Encoded], settings: Settings = DEFAULTS
) -> Float[np.ndarray, "layer head width"]:
    """The mean of each head's context vector over all real tokens, each token weighing the same.

    NaN where a layer has fewer or narrower heads than another. One plain forward pass over the inputs.

    Raises `HeadscopeError` for a model whose linear maps are not found.
    """
    layers = model.projections
    sums = [np.zeros((layer.heads, layer.width)) for layer in layers]
    tokens, real = 0, torch.empty(0)

    def add(layer: int, contexts: Tensor) -> None:
        # [example_token] @ [example_token, head * width] -> [head * width]
        total = real.to(contexts).flatten() @ contexts.flatten(0, 1)
        sums[layer] += total.to(torch.float32).cpu().numpy().reshape(sums[layer].shape)

    with torch.inference_mode(), fast(model.network), at_contexts(model.network, layers, add):
        for batch in batches(model, inputs, settings):
            real = batch.real
            tokens += int(real.sum())
            model.network(**batch.inputs)
            settings.on_progress(len(real))
    means = np.full((len(layers), max(layer.heads for layer in layers), max(layer.width for layer in layers)), np.nan)
    for layer, total in enumerate(sums):
        means[layer, : total.shape[0], : total.shape[1]] = total / tokens
    return means

"""Whether a head copies: what it writes where it looks at a token raises the prediction of that token.

Elhage et al. 2021 ("A Mathematical Framework for Transformer Circuits"): the head's circuit from input to output
embeddings, W_U W_O W_V W_E. The direct path alone counts, as usual: an embedding goes through the normalisations before
the first layer and before the head's layer, not through the layers between, and of the normalisations after attention
and before the output embedding the weights count, not their division. Positions and biases are left out, and so is
what a masked-language head does before its output embedding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.stats import norm as normal
from torch import Tensor, nn

from headscope.capture.attention_function import for_each_head
from headscope.capture.attention_switch import attending, switchable
from headscope.models import Model
from headscope.models.normalisations import find_normalisations
from headscope.models.residual_writes import written_by_heads
from headscope.studies.heads.induction.reading import without_words_head

# Tokens of an input whose values are read.
TOGETHER = 128
TINY = 1e-30
Rows = Float[Tensor, "token width"]


@dataclass(frozen=True)
class Copying:
    """A row for each head, heads of all layers in a row.

    * `own`: for each token, whether its own logit is raised above the mean; `most`: more than that of all others.
    * `eigenvalues`: sum of the eigenvalues of the circuit over the sum of their absolute values, from -1 to 1.
    * `p`: probability of so much copying if what the head writes were turned at random.
    """

    own: Float[np.ndarray, "token head"]
    most: Float[np.ndarray, "token head"]
    eigenvalues: Float[np.ndarray, " head"]
    p: Float[np.ndarray, " head"]


def copying_of(model: Model, tokens: Int[np.ndarray, " token"]) -> Copying | str:
    """Copying of some tokens by all heads; a reason where the circuit cannot be read."""
    outputs: Any = model.network.get_output_embeddings()
    inputs: Any = model.network.get_input_embeddings()
    if outputs is None:
        return "the model has no output embeddings"
    if outputs.weight.shape[1] != inputs.weight.shape[1]:
        return "input and output embeddings have different widths"
    if model.capture.method == "softmax tap":
        return "values of heads cannot be read in this kind of model"
    with torch.inference_mode():
        norms = find_normalisations(model)
        if isinstance(norms, str):
            return norms
        ids = torch.from_numpy(tokens).to(model.device)
        embedded = norms.embedded(inputs.weight[ids])
        output = norms.output_weights(outputs.weight[ids]).double()
        values = head_values(model, tokens, norms.before_values(embedded))
        parts = [
            circuit(head, mixed, output - output.mean(0))
            for layer, written in zip(values, written_by_heads(model), strict=True)
            for head, mixed in zip(layer.double(), written.double(), strict=True)
        ]
    own, most, eigenvalues, p = zip(*parts, strict=True)
    return Copying(np.stack(own, axis=1), np.stack(most, axis=1), np.array(eigenvalues), np.array(p))


def circuit(
    values: Float[Tensor, "token width"], mixed: Float[Tensor, "hidden width"], output: Float[Tensor, "token hidden"]
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """The numbers of one head, as the fields of `Copying`.

    * `values`: of each token alone; `mixed`: what becomes of them; `output`: embeddings less their mean.

    If the head's output were turned at random, the mean logit of a token itself would be normal, with a variance of
    the squared length of the map from output embeddings to what is written, over the width.
    """
    values = values - values.mean(0)
    logits = values @ (output @ mixed).T  # [token, predicted]
    itself = logits.diagonal().clone()
    inner = values.T @ output / len(values)  # [width, hidden]
    eigenvalues = torch.linalg.eigvals(inner @ mixed)
    length = torch.linalg.matrix_norm(mixed @ inner)
    z = float(itself.mean() / (length / mixed.shape[0] ** 0.5).clamp_min(TINY))
    others = logits.fill_diagonal_(-torch.inf).amax(1)
    share = float(eigenvalues.real.sum() / eigenvalues.abs().sum().clamp_min(TINY))
    return (itself > 0).double().cpu().numpy(), (itself > others).double().cpu().numpy(), share, float(normal.sf(z))


def head_values(
    model: Model, tokens: Int[np.ndarray, " token"], states: list[Rows]
) -> list[Float[Tensor, "head token width"]]:
    """The values of each head of each layer for tokens whose states enter the layer's linear maps."""
    number = min(TOGETHER, model.max_tokens, len(tokens))
    rows = -(-len(tokens) // number)
    ids = torch.from_numpy(np.resize(tokens, (rows, number))).to(model.device)
    padded = [
        torch.cat([state, state[:1].expand(rows * number - len(state), -1)]).view(rows, number, -1) for state in states
    ]
    values = list[Tensor]()

    def keep(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> tuple[Tensor, None]:
        heads = for_each_head(value, query.shape[1], dim=1)  # [example, head, key, width]
        values.append(heads.transpose(0, 1).flatten(1, 2)[:, : len(tokens)])
        return query.new_zeros(len(query), query.shape[2], query.shape[1], value.shape[-1]), None

    bare = without_words_head(model)
    with switchable(bare.network), attending(keep), _entering(model, padded):
        bare.network(input_ids=ids, attention_mask=torch.ones_like(ids))
    return values


@contextmanager
def _entering(model: Model, states: list[Tensor]) -> Iterator[None]:
    """Within this context other states enter the linear maps of each layer's attention."""
    handles = []
    for projections, state in zip(model.projections, states, strict=True):
        for module in dict.fromkeys((projections.query, projections.key, projections.value)):
            handles.append(module.register_forward_pre_hook(lambda module, args, state=state: (state, *args[1:])))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()

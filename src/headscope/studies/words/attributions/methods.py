"""The importance of each input token by all methods, for one batch, in one descent through the layers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from headscope.capture.layer_stack import Stack
from headscope.capture.projections import Projections
from headscope.encoding.batch import Batch, Values
from headscope.errors import HeadscopeError
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.words.attributions import METHODS as NAMES
from headscope.studies.words.attributions.descent import LayerPass, Objective, States, descend, same_states, wide
from headscope.studies.words.attributions.integrated_gradients import MOST_POINTS, Path
from headscope.studies.words.attributions.maps import (
    Residual,
    TokenMap,
    Vectors,
    effective,
    effective_correlation,
    effective_share,
    flows,
    head_mean,
    head_norms,
    kept_where_nothing_moves,
    norms,
    row_normalised,
    value_vectors,
)
from headscope.studies.words.attributions.targets import Target
from headscope.studies.words.attributions.value_zeroing import ValueZeroing

# Maps that are multiplied from a layer down to the input.
ROLLED = {"rollout": "attention", "norm_rollout": "norm_residual", "value_zeroing_rollout": "value_zeroing"}
# Variables of heads; see `effective_attention`.
EFFECTIVE = ("effective_share", "effective_correlation")
METHODS = tuple(NAMES)
FLOW, INTEGRATED = METHODS.index("flow"), METHODS.index("integrated_gradients")
# Many passes a token: taken where they are asked for.
SLOW = ("value_zeroing", "value_zeroing_rollout", "integrated_gradients")
# Flow is taken for inputs of at most this many tokens.
FLOW_TOKENS = 64


@dataclass(frozen=True)
class Importance:
    """The importance of the tokens of a batch.

    * `tokens`: NaN where a method was not taken; padding has 0.
    * `reference`: the vector of the target of each whole input.
    * `heads`: attention and norms by class of token, and effective attention, for tallies.
    * `errors`: of the sums of integrated gradients; NaN where they were not taken.
    """

    tokens: Float[np.ndarray, "example method layer token"]
    reference: Tensor
    heads: dict[str, Values]
    errors: Float[np.ndarray, "example layer"]


@dataclass(frozen=True)
class Explainer:
    """A network taken apart: its layers, their linear maps, and what follows attention in each.

    * `start`: the token in the place of blanked ones where the paths of integrated gradients start.
    * `batch_tokens`: most tokens of the points of a path that run together; `points`: most points of a path.
    """

    stack: Stack
    projections: Sequence[Projections]
    residuals: Sequence[Residual]
    target: Target
    start: int
    batch_tokens: int
    points: int = MOST_POINTS

    def explain(
        self,
        batch: Batch,
        positions: Int[Tensor, " example"],
        scored: Bool[Tensor, " example"],
        with_flow: Bool[Tensor, " example"],
    ) -> Importance:
        """The importance of all tokens, within `switchable` and `frozen`.

        * `positions`: of the token at which a word is predicted.
        * `scored`: the examples of which value zeroing and integrated gradients are taken, which are slow.
        * `with_flow`: those of which flow is taken.

        Raises `HeadscopeError` if a layer alone gives other states than the whole network.
        """
        collected = _Collected(self, batch, scored, with_flow)
        with torch.no_grad(), self.target.read(self.stack.network, positions) as read:
            calls, answer = self.stack.calls(batch.inputs)
            reference = self.target.vectors(answer, batch.real, read)
        objective = self._objective(batch.real, positions, reference)
        for layer in descend(self.stack, self.projections, batch.inputs, calls, objective):
            if layer.number + 1 < len(calls):
                self._refuse_other(layer, calls[layer.number + 1].states)
            with torch.no_grad():
                collected.add(layer)
        tokens = collected.tokens()
        errors = self._integrate(batch, positions, scored, reference, tokens)
        return Importance(tokens, reference, collected.heads(), errors)

    def _integrate(
        self, batch: Batch, positions: Tensor, chosen: Tensor, reference: Tensor, tokens: np.ndarray
    ) -> Float[np.ndarray, "example layer"]:
        """Write the integrated gradients of some examples into `tokens`."""
        errors, blankable = np.full((len(tokens), tokens.shape[2]), np.nan), self.target.blankable(batch, positions)
        for example in chosen.nonzero()[:, 0].tolist():
            length = int(batch.real[example].sum())
            objective = self._objective(batch.real[[example], :length], positions[[example]], reference[[example]])
            inputs = {name: tensor[[example], :length] for name, tensor in batch.inputs.items()}
            blanked = blankable[example, :length]
            path = Path(self.stack, inputs, blanked, self.start, objective, self.batch_tokens, self.points)
            tokens[example, INTEGRATED] = 0
            tokens[example, INTEGRATED, :, :length], errors[example] = path.gradients()
        return errors

    def _objective(self, real: Tensor, positions: Int[Tensor, " row"], reference: Tensor) -> Objective:
        """The scalars whose gradients are taken, of the last states of some inputs, or of copies of a single one."""

        def objective(inputs: Mapping[str, Tensor], states: States) -> Float[Tensor, " row"]:
            rows = len(states)
            with self.target.read(self.stack.network, positions) as read:
                output = self.stack.finish(inputs, states)
            vectors = self.target.vectors(output, real.expand(rows, -1), read.expand(rows))
            return self.target.objective(vectors, reference.expand(rows, -1))

        return objective

    def _refuse_other(self, layer: LayerPass, expected: Tensor) -> None:
        if not same_states(layer.output, expected):
            kind = self.stack.network.config.model_type
            raise HeadscopeError(
                f"model type '{kind}': layer {layer.number + 1} alone gives other states than in the network; "
                "use another model"
            )


@dataclass
class _Collected:
    """Importances collected so far, last layer first."""

    explainer: Explainer
    batch: Batch
    zeroed: Bool[Tensor, " example"]
    with_flow: Bool[Tensor, " example"]
    readout: Float[Tensor, "example token"] | None = None
    found: dict[str, list[Tensor]] = field(default_factory=dict)
    rolled: dict[str, Float[Tensor, "example from_layer token"]] = field(default_factory=dict)
    flow_maps: list[np.ndarray] = field(default_factory=list)
    by_head: dict[str, list[Tensor]] = field(default_factory=dict)

    def add(self, own: LayerPass) -> None:
        """Take in a layer."""
        layer = own.widened()
        if layer.top is not None:
            self.readout = read_tokens(layer.top, self.batch.real)
        assert self.readout is not None
        projections = self.explainer.projections[layer.number]
        vectors = value_vectors(layer, projections)
        bias = projections.output.bias
        maps = self._maps(layer, vectors, bias if isinstance(bias, Tensor) else None)
        for name, token_map in maps.items():
            self._append(name, (self.readout[:, None] @ token_map)[:, 0])
        for name, part in ROLLED.items():
            self._roll(name, _mixed(maps[part]) if part == "attention" else kept_where_nothing_moves(maps[part]))
        for name, importance in _gradients(layer):
            self._append(name, importance)
        if self.with_flow.any():
            self.flow_maps.append(_mixed(maps["attention"])[self.with_flow].cpu().numpy())
        self._add_heads(layer, vectors)

    def _maps(self, layer: LayerPass, vectors: Vectors, bias: Tensor | None) -> dict[str, TokenMap]:
        residual = self.explainer.residuals[layer.number]
        return {
            "attention": head_mean(layer),
            "norm": norms(layer, vectors),
            "norm_residual": residual.norms(layer, vectors, bias),
            "value_zeroing": row_normalised(self._zeroing.map(layer, vectors)),
        }

    @cached_property
    def _zeroing(self) -> ValueZeroing:
        explainer = self.explainer
        return ValueZeroing(explainer.stack, explainer.projections, self.batch.inputs, self.batch.real, self.zeroed)

    def _append(self, name: str, importance: Float[Tensor, "example token"]) -> None:
        self.found.setdefault(name, []).append(importance * self.batch.real)

    def _roll(self, name: str, token_map: TokenMap) -> None:
        """Move the rows of all layers above, and the read tokens of this one, down to the input of this layer."""
        assert self.readout is not None
        above = self.rolled.get(name, self.readout.new_empty(len(self.readout), 0, self.readout.shape[1]))
        self.rolled[name] = torch.cat([above, self.readout[:, None]], dim=1) @ token_map

    def _add_heads(self, layer: LayerPass, vectors: Vectors) -> None:
        members = one_hot(self.batch.token_class + 1, len(TOKEN_CLASSES) + 1)[..., 1:].to(layer.attention.dtype)
        queries = (self.batch.real / self.batch.lengths[:, None]).to(layer.attention.dtype)
        for name, maps in (("attention_to", layer.attention), ("norm_to", row_normalised(head_norms(layer, vectors)))):
            # [example, 1, 1, query] @ [example, head, query, key] -> [example, head, key]
            received = (queries[:, None, None] @ maps)[:, :, 0]
            self.by_head.setdefault(name, []).append(received @ members)
        self._add_effective(layer)

    def _add_effective(self, layer: LayerPass) -> None:
        """The share of attention that is effective, and its correlation with all of it, where there is a null space."""
        projections, real = self.explainer.projections[layer.number], self.batch.real
        if bool(self._has_null_space.any()):
            part = effective(layer, projections, real)
            shares = effective_share(layer.attention, part, real), effective_correlation(layer.attention, part, real)
        else:
            shares = (layer.attention.new_zeros(len(real), projections.heads),) * 2
        for name, share in zip(EFFECTIVE, shares, strict=True):
            self.by_head.setdefault(name, []).append(share)

    @cached_property
    def _has_null_space(self) -> Bool[Tensor, " example"]:
        """The inputs with more tokens than any head is wide."""
        return self.batch.lengths > max(projections.width for projections in self.explainer.projections)

    def tokens(self) -> Float[np.ndarray, "example method layer token"]:
        """The importance by all methods, layers from the first."""
        layers = {name: torch.stack(parts[::-1], dim=1) for name, parts in self.found.items()}
        layers |= {name: rows.flip(1) * self.batch.real[:, None] for name, rows in self.rolled.items()}
        none = torch.full_like(layers["attention"], torch.nan)
        layers |= {"flow": none, "integrated_gradients": none}
        importance = torch.stack([layers[name] for name in METHODS], dim=1).double().cpu().numpy()
        if self.with_flow.any():
            assert self.readout is not None
            readout, lengths = self.readout.double().cpu().numpy(), self.batch.real.sum(1).tolist()
            for row, example in enumerate(self.with_flow.nonzero()[:, 0].tolist()):
                size = lengths[example]
                maps = [layer_map[row, :size, :size] for layer_map in reversed(self.flow_maps)]
                importance[example, FLOW] = 0
                importance[example, FLOW, :, :size] = flows(maps, readout[example, :size])
        return importance

    def heads(self) -> dict[str, Values]:
        """Values of heads in a row.

        `attention_to` and `norm_to`: mean over queries of the share of each class of token. `EFFECTIVE`: of the inputs
        with a null space.
        """
        exists = self.batch.class_exists.expand(len(self.batch.real), -1)
        valid: dict[str, Tensor] = {name: self._has_null_space for name in EFFECTIVE}
        joined = {name: torch.cat(parts[::-1], dim=1) for name, parts in self.by_head.items()}
        return {name: Values(values, valid.get(name, exists)) for name, values in joined.items()}


def read_tokens(
    gradient: Float[Tensor, "example token width"], real: Bool[Tensor, "example token"]
) -> Float[Tensor, "example token"]:
    """How much the target reads each token of the last layer: the share of the length of the gradient there.

    All of it is at [CLS] for a classifier of BERT, at the mask for a masked word; it is even for a mean of states.
    """
    return row_normalised(torch.linalg.vector_norm(wide(gradient), dim=-1) * real)


def _mixed(attention: TokenMap) -> TokenMap:
    """Attention and residual connection, half each (Abnar and Zuidema 2020, section 3)."""
    return row_normalised(attention + torch.eye(attention.shape[-1], device=attention.device))


def _gradients(layer: LayerPass) -> Iterator[tuple[str, Float[Tensor, "example token"]]]:
    """The importance of each token by the gradients of a layer; see `study.run`."""
    yield "gradient_attention", (layer.attention * layer.attention_gradient).clamp_min(0).sum((1, 2))
    yield "value_gradient", (layer.values * layer.value_gradient).sum((1, 3))
    yield "gradient_input", (layer.states * layer.state_gradient).sum(-1)

"""Gradients of a loss with respect to every attention weight, by class of token; no map of them is kept.

Each block of attention is handed on unchanged, with a hook on it: when the backward pass comes to the block, the
sizes of its gradients are summed over classes of queries and keys, and forgotten. The gradient is the total one: what
the loss would change with this weight alone, rows no longer summing to 1, through everything that comes after.
"""

from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot

from headscope import catalog
from headscope.encoding.batch import Batch, Values
from headscope.encoding.encoded import Encoded
from headscope.outputs.gradient_importance import frozen, refuse_infinite
from headscope.outputs.losses import collated
from headscope.passes.accumulators import IndexedValues
from headscope.passes.batches import collator
from headscope.passes.observing import MeasureObserver
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.statistics.bootstrap import Tally
from headscope.statistics.rank_correlation import spearman
from headscope.studies.words.gradients.objectives import Objective

OTHER = TOKEN_CLASSES.index("other")
Estimate = tuple[Float[np.ndarray, "*dims"], Float[np.ndarray, "*dims 2"]]

# What is read off the very inputs whose gradients are taken, in the same pass.
MEASURES = ("attention_to", "sep_to_sep")


class Sizes:
    """An intervention that changes nothing, and sums the sizes of gradients: [example, head, group, token_class].

    Heads of all layers stand in a row; groups are those of queries, `batch.QUERY_GROUPS`.
    """

    batch: Batch
    sums: Float[Tensor, "example head group token_class"]

    def __init__(self, heads: tuple[int, ...], dtype: torch.dtype):
        self.ends, self.dtype = np.cumsum([0, *heads]).tolist(), dtype
        self.collector = MeasureObserver({name: catalog.load("measures", name) for name in MEASURES})

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch = batch
        self.collector.start(batch)
        members = one_hot(batch.token_class + 1, len(TOKEN_CLASSES) + 1)[..., 1:]
        self.queries, self.keys = batch.query_groups.to(self.dtype), members.to(self.dtype)
        shape = (len(batch.real), self.ends[-1], self.queries.shape[1], len(TOKEN_CLASSES))
        self.sums = torch.zeros(shape, dtype=self.dtype, device=batch.real.device)

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`. Passes without gradients go by unseen."""
        if not torch.is_grad_enabled():
            return attention
        self.collector(layer, attention.detach().to(torch.float32), examples, queries)
        # Nothing before the first layer wants a gradient: there the graph begins.
        seen = attention.view_as(attention) if attention.requires_grad else attention.detach().requires_grad_()
        seen.register_hook(partial(self._add, layer, examples, queries))
        return seen

    def _add(self, layer: int, examples: slice, queries: slice, gradient: Tensor) -> None:
        groups = self.queries[examples, None, :, queries]
        sums = groups @ gradient.abs().to(self.dtype) @ self.keys[examples, None]
        self.sums[examples, self.ends[layer] : self.ends[layer + 1]] += sums

    def finish(self, has_answer: Tensor) -> dict[str, Values]:
        """The mean size over all weights of each kind, in the examples with an answer and such weights."""
        queries, keys = self.queries.sum(-1), self.keys.sum(1)
        weights = queries[:, :, None] * keys[:, None, :]
        valid = (weights > 0) & has_answer[:, None, None]  # [example, query group, token class]
        means = self.sums / weights.clamp_min(1)[:, None]
        read = self.collector.finish()
        attention = {
            # `has_answer` becomes [example, 1, ...]
            name: Values(values.values, values.valid & has_answer.reshape(-1, *[1] * (values.valid.ndim - 1)))
            for name, values in read.items()
        }
        return attention | {
            "gradient": Values(means[:, :, 0], valid[:, 0]),
            "gradient_from": Values(means[:, :, 1:], valid[:, 1:]),
        }


def gradients(run: Pass, objective: Objective) -> PassResult[dict[str, Tally]]:
    """Tallies of `gradient`, `gradient_from` and `MEASURES` over a corpus; heads of all layers in a row.

    Raises `HeadscopeError` if a loss is not finite.
    """
    model, collate = run.model, collator(run.model)
    sizes = Sizes(model.capture.heads, torch.promote_types(model.network.dtype, torch.float32))

    def values(group: list[Encoded]) -> IndexedValues:
        questions, answers = zip(*map(objective.question, group), strict=True)
        batch = collate(list(questions))
        sizes.start(batch)
        loss, has_answer = objective.loss(model.network, batch, collated(answers, model.device))
        refuse_infinite(loss, batch, model)
        loss.sum().backward()
        return IndexedValues(batch.unit, sizes.finish(has_answer))

    with frozen(model.network), model.intervened(sizes):
        return run.tally(values).read()


def relative(gradient: Tally, heads: tuple[int, ...]) -> Estimate:
    """The gradients of each class of tokens by those of other tokens, [layer, token_class], and its interval.

    The mean over the heads of a layer is taken first.
    """
    return _by_other(gradient.mean, heads), gradient.interval_of(_by_other(_resampled(gradient), heads))


def correlation(attention: Tally, gradient: Tally) -> Estimate:
    """Spearman's rank correlation over heads of the attention to a class with its gradient, [token_class].

    NaN where one of the two is the same for all heads, or missing.
    """
    resampled = _over_heads(_resampled(attention), _resampled(gradient))
    return _over_heads(attention.mean, gradient.mean), gradient.interval_of(resampled)


def _by_other(means: Float[np.ndarray, "*resample head token_class"], heads: tuple[int, ...]) -> np.ndarray:
    parts = np.split(means, np.cumsum(heads)[:-1], axis=-2)
    layers = np.stack([part.mean(-2) for part in parts], axis=-2)
    other = layers[..., OTHER, None]
    return np.divide(layers, other, out=np.full(layers.shape, np.nan), where=other > 0)


def _resampled(tally: Tally) -> Float[np.ndarray, "resample head token_class"]:
    count = tally.resampled_count[:, None]
    return np.divide(tally.resampled_total, count, out=np.full(tally.resampled_total.shape, np.nan), where=count > 0)


def _over_heads(first: Float[np.ndarray, "*resample head token_class"], second: np.ndarray) -> np.ndarray:
    return spearman(np.moveaxis(first, -2, -1), np.moveaxis(second, -2, -1))

"""What several measures share: the attention that each token gets, and maxima over the marked tokens of an example."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.results.vocabulary import FEATURES


def maximum_by_example(
    values: Float[Tensor, "row head"], example: Int[Tensor, " row"], kind: Int[Tensor, " row"], shape: tuple[int, int]
) -> Values:
    """For each example and kind, the largest of its rows; `shape` is the number of examples and of kinds."""
    examples, kinds = shape
    cell = example * kinds + kind
    maxima = values.new_zeros(examples * kinds, values.shape[-1])
    maxima.scatter_reduce_(0, cell[:, None].expand_as(values), values, "amax", include_self=False)
    valid = torch.zeros(examples * kinds, dtype=torch.bool, device=values.device)
    valid[cell] = True
    # [example, head, kind], [example, kind]
    return Values(maxima.view(examples, kinds, -1).mT, valid.view(examples, kinds))


def maximum_by_feature(by_key: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """For each example, head and feature, the largest value at a token of the feature."""
    example, feature, token = batch.features.unbind(-1)
    return maximum_by_example(by_key[example, :, token], example, feature, (len(by_key), len(FEATURES)))


def received(rows: Rows) -> Float[Tensor, "example head group key"]:
    """The attention that each key gets from the queries of the block, summed over each of `batch.QUERY_GROUPS`."""
    return rows.received


def pair_sums(rows: Rows) -> Float[Tensor, "example head sum"]:
    """The block's part of the sums of `encoding.pair_sums`; zeros where the batch has no pair."""
    return rows.pair_sums

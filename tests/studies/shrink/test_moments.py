"""What neurons add, and the fitted output map: closed forms and a naive least-squares fit."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import headscope
from headscope import Settings
from headscope.models.feed_forward import FeedForward
from headscope.models.removable_parts import parts_of
from headscope.studies.size.shrink.moments import Moments, added, added_by_heads, fitted, moments_of, ranked
from headscope.studies.size.shrink.texts import encode
from support.tiny import tiny_bert, tiny_tokenizer

SEED = torch.Generator().manual_seed(0)
ROWS = torch.randn(200, 6, generator=SEED) + torch.arange(6)


def part(bias: bool = True) -> FeedForward:
    """A feed-forward part of 6 neurons whose output map has seeded weights."""
    output = nn.Linear(6, 3, bias=bias)
    with torch.no_grad():
        output.weight.copy_(torch.randn(3, 6, generator=torch.Generator().manual_seed(1)))
    return FeedForward((nn.Linear(3, 6),), output, 6)


def moments(rows: torch.Tensor) -> Moments:
    """The moments of some rows, added in two parts."""
    found = Moments(0, torch.zeros(6, dtype=torch.float64), torch.zeros(6, 6, dtype=torch.float64))
    found.add(rows[:50])
    found.add(rows[50:])
    return found


def test_a_neuron_adds_its_variance_times_its_squared_weights() -> None:
    output: Any = part().output
    expected = ROWS.double().numpy().var(0) * (output.weight.detach().double().numpy() ** 2).sum(0)
    np.testing.assert_allclose(added(part(), moments(ROWS)), expected, rtol=1e-4)


@pytest.mark.parametrize("bias", [True, False])
def test_fitted_map_is_that_of_least_squares_with_a_ridge(bias: bool) -> None:
    layer, kept, ridge = part(bias), [0, 2, 5], 0.3
    output: Any = layer.output
    with torch.no_grad():
        wanted = output(ROWS).double().numpy()
    rows, kept_rows = ROWS.double().numpy(), ROWS[:, kept].double().numpy()
    old = output.weight.detach().double().numpy()[:, kept]
    inputs, outputs = kept_rows, wanted
    if bias:
        inputs, outputs = kept_rows - kept_rows.mean(0), wanted - wanted.mean(0)
    strength = ridge * (inputs**2).mean()
    stacked = np.concatenate([inputs, np.sqrt(len(rows) * strength) * np.eye(3)])
    targets = np.concatenate([outputs - inputs @ old.T, np.zeros((3, 3))])
    expected = old.T + np.linalg.lstsq(stacked, targets, rcond=None)[0]
    weight, constant = fitted(layer, moments(ROWS), kept, ridge)
    np.testing.assert_allclose(weight.T.numpy(), expected, atol=1e-5)
    if constant is not None:
        np.testing.assert_allclose((kept_rows @ weight.T.numpy() + constant.numpy()).mean(0), wanted.mean(0), atol=1e-5)
    assert (constant is not None) == bias


def test_a_neuron_that_repeats_another_is_made_up_for() -> None:
    rows = ROWS.clone()
    rows[:, 1] = 2 * rows[:, 0]
    layer = part()
    output: Any = layer.output
    weight, bias = fitted(layer, moments(rows), [0, 2, 3, 4, 5], 1e-9)
    with torch.no_grad():
        wanted = output(rows).double()
    assert bias is not None
    ours = rows[:, [0, 2, 3, 4, 5]].double() @ weight.T + bias
    torch.testing.assert_close(ours, wanted, atol=1e-4, rtol=0)


def test_moments_and_heads_of_a_model_are_those_of_its_real_tokens() -> None:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    parts, seen = parts_of(model), list[torch.Tensor]()
    inputs = encode(model, tuple(headscope.read(["The cat slept.", "A dog ran to the old house."])))
    found = moments_of(model, parts, inputs, Settings())
    by_heads = added_by_heads(model, inputs, Settings())
    contexts = list[torch.Tensor]()
    network: Any = model.network
    layer = network.encoder.layer[1]
    hooks = [
        layer.output.dense.register_forward_pre_hook(lambda module, args: seen.append(args[0][0])),
        layer.attention.output.dense.register_forward_pre_hook(lambda module, args: contexts.append(args[0][0])),
    ]
    with torch.no_grad():
        for one in inputs:
            model.network(input_ids=torch.tensor(one.inputs["input_ids"])[None])
    for hook in hooks:
        hook.remove()
    rows = torch.cat(seen).double()
    torch.testing.assert_close(found[1].mean, rows.mean(0), atol=1e-5, rtol=0)
    torch.testing.assert_close(found[1].covariance, torch.cov(rows.T, correction=0), atol=1e-4, rtol=0)
    weight = layer.attention.output.dense.weight.detach()
    expected = [
        float((torch.cat(contexts)[:, 6 * h : 6 * h + 6] @ weight[:, 6 * h : 6 * h + 6].T).square().sum())
        for h in range(4)
    ]
    np.testing.assert_allclose(by_heads[1], expected, rtol=1e-4)


def test_of_equal_parts_the_first_is_kept() -> None:
    assert ranked([np.array([0.2, 0.5, 0.2, 0.1]), np.array([1.0, 0, 0, 2.0])], [2, 2]) == ((0, 1), (0, 3))

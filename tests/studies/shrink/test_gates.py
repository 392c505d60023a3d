"""Gates: closed forms of the Hard Concrete distribution, prices with gradients, and which parts gates keep."""

import math

import numpy as np
import pytest
import torch
import xarray as xr
from torch import Tensor

import headscope
from headscope import Settings
from headscope.models.removable_parts import GateValues, Kept, gated, silenced
from headscope.outputs.size_and_speed import megabytes
from headscope.report.numbers import Numbers
from headscope.studies.size.shrink.figures import open_gates
from headscope.studies.size.shrink.gates import (
    Gates,
    TrainedGates,
    chosen,
    drawn,
    expected,
    gate_shapes,
    open_probability,
    sampled,
    smallest,
)
from headscope.studies.size.shrink.held_out import heads_that_stay
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.plan import Size, SizeTarget
from headscope.studies.size.shrink.prices import ExpectedPrice, Prices, expected_price, interpolated
from headscope.studies.size.shrink.texts import encode
from support.idle_neurons import TEXTS, even, idle, idle_halves, judge_by_embeddings

QUICK = Settings(resamples=50)
PRICES = Prices(((1, 8), (4, 8)), 3, 4, (0.3, 0.6), (32, 16, 4), ((3.0, 9.0), (2.25, 6.0), (1.5, 5.0)), (0.02, 0.05))
SIZES = [even((0, 1, 2), 32, 4), even((0, 2), 32, 2), even((1,), 20, 4), even((0, 1), 9, 3), even((0, 1, 2), 2, 1)]


@pytest.fixture(scope="module")
def original() -> Original:
    """An encoder in which half of the neurons and heads do nothing."""
    model = idle_halves()
    return original_of(model, encode(model, tuple(headscope.read(TEXTS[:8]))), QUICK)


def price_of(original: Original, wanted: SizeTarget) -> ExpectedPrice:
    """The price of a model by made timings."""
    return expected_price(PRICES, original, wanted)


def gates_of(size: Size) -> GateValues:
    """Gates of 0 and 1 of a size: the first neurons and heads stay."""
    layers, neurons, heads = torch.zeros(3), torch.zeros(3, 32), torch.zeros(3, 4)
    layers[list(size.layers)] = 1
    neurons[:, : size.neurons[0]] = 1
    heads[:, : size.heads[0]] = 1
    return GateValues(layers, neurons, heads)


def test_share_of_open_gates_is_the_expected_norm() -> None:
    log_alpha = torch.tensor([-4.0, -1.0, 0.0, 0.5, 3.0])
    by_hand = [1 / (1 + math.exp(-(value - 2 / 3 * math.log(0.1 / 1.1)))) for value in log_alpha.tolist()]
    np.testing.assert_allclose(open_probability(log_alpha), by_hand, rtol=1e-6)
    noise = (torch.arange(100_000) + 0.5) / 100_000  # all of the noise in equal steps
    gates = sampled(log_alpha[:, None], noise.expand(5, -1))
    np.testing.assert_allclose((gates > 0).double().mean(1), by_hand, atol=1e-4)
    assert float(gates.min()) == 0 and float(gates.max()) == 1
    at_one = [1 / (1 + math.exp(-(value - 2 / 3 * math.log(1.1 / 0.1)))) for value in log_alpha.tolist()]
    np.testing.assert_allclose((gates == 1).double().mean(1), at_one, atol=1e-4)


def test_gates_at_evaluation_have_no_noise() -> None:
    log_alpha = torch.tensor([-9.0, math.log(0.25), 0.0, math.log(3.0), 9.0])
    np.testing.assert_allclose(expected(log_alpha), [0, 0.2 * 1.2 - 0.1, 0.5, 0.75 * 1.2 - 0.1, 1], atol=1e-6)
    torch.testing.assert_close(expected(log_alpha), expected(log_alpha), rtol=0, atol=0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first, second = drawn(torch.zeros(50)), drawn(torch.zeros(50))
    assert not torch.equal(first, second)


def test_gradient_of_the_norm_is_p_times_1_less_p() -> None:
    log_alpha = torch.tensor([-2.0, 0.0, 1.5], dtype=torch.float64, requires_grad=True)
    open_probability(log_alpha).sum().backward()
    stays = open_probability(log_alpha.detach())
    torch.testing.assert_close(log_alpha.grad, stays * (1 - stays))


@pytest.mark.parametrize("size", SIZES)
def test_price_of_gates_of_0_and_1_is_that_of_the_size(original: Original, size: Size) -> None:
    for wanted in (SizeTarget(2.0, None), SizeTarget(None, 0.05), SizeTarget(1.2, 0.07)):
        price = price_of(original, wanted)
        assert float(price.excess(gates_of(size))) == pytest.approx(price.of(size), rel=1e-5)
        share, made = PRICES.share(size, original.size), megabytes(original.cut(size))
        by_hand = max(share * (wanted.speed or 0), made / (wanted.megabytes or math.inf))
        assert price.of(size) == pytest.approx(by_hand, rel=1e-9)
    assert float(price.share(gates_of(size))) == pytest.approx(PRICES.share(size, original.size), rel=1e-5)


def test_gradient_of_the_price_is_what_a_part_costs(original: Original) -> None:
    price, generator = price_of(original, SizeTarget(1.5, None)), torch.Generator().manual_seed(0)
    log_alphas = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in [(3,), (3, 32), (3, 4)]]

    def share(*values: Tensor) -> Tensor:
        return price.share(GateValues(*map(open_probability, values)))

    given = [values.requires_grad_() for values in log_alphas]
    assert torch.autograd.gradcheck(share, given)


def test_bytes_of_a_neuron_are_the_gradient_of_the_size(original: Original) -> None:
    price, gates = price_of(original, SizeTarget(None, 0.05)), gates_of(original.size)
    assert gates.neurons is not None and gates.heads is not None
    price.megabytes(GateValues(gates.layers, gates.neurons.requires_grad_(), gates.heads.requires_grad_())).backward()
    neuron = 4 * 3 * 24 / 1e6  # two maps into the neurons, one out of them, in float32
    head = 4 * 4 * 24 * 6 / 1e6
    torch.testing.assert_close(gates.neurons.grad, torch.full((3, 32), neuron))
    torch.testing.assert_close(gates.heads.grad, torch.full((3, 4), head))


def test_penalty_leads_gates_down_and_multipliers_up() -> None:
    gates = Gates({"layers": (2,), "neurons": (2, 3)})
    assert gates.linear.shape == (3,)  # the price, and the neurons of two layers
    with torch.no_grad():
        gates.linear[0], gates.square[0] = 2.0, 0.5
    excess = torch.tensor([0.25, -0.1, 0.0], requires_grad=True)
    penalty = gates.penalty(excess)
    penalty.backward()
    assert penalty.item() == pytest.approx(2 * 0.25 + 0.5 * 0.25**2)
    np.testing.assert_allclose(excess.grad, [2 + 2 * 0.5 * 0.25, 0, 0])  # type: ignore[arg-type]
    np.testing.assert_allclose(gates.linear.grad, [-0.25, 0.1, 0], rtol=1e-6)  # type: ignore[arg-type]
    np.testing.assert_allclose(gates.square.grad, [-0.0625, -0.01, 0], rtol=1e-6)  # type: ignore[arg-type]


def test_layers_of_one_size_are_even(original: Original) -> None:
    price, gates = price_of(original, SizeTarget(2.0, None)), gates_of(even((0, 1, 2), 8, 2))
    assert gates.neurons is not None
    np.testing.assert_allclose(price.unevenness(gates), 0, atol=1e-7)
    gates.neurons[0, 8:16] = 1
    apart = [(16 - 32 / 3) / 32, *[(8 - 32 / 3) / 32] * 2]
    np.testing.assert_allclose(price.unevenness(gates), [*apart, 0, 0, 0], atol=1e-6)


def test_interpolation_is_that_of_numpy() -> None:
    widths, values = np.array([32.0, 16.0, 4.0]), np.array([[3.0], [2.25], [1.5]])
    at = np.array([1.0, 4.0, 5.0, 16.0, 17.0, 32.0, 40.0])
    made = interpolated(*map(torch.from_numpy, (at, widths, values)))
    np.testing.assert_allclose(made[:, 0], np.interp(at, widths[::-1], values[::-1, 0]))


@pytest.mark.parametrize("made", [idle, idle_halves])
@torch.no_grad()
def test_gates_of_0_and_1_are_the_model_with_parts_silenced_and_cut(made: type) -> None:
    model = made()
    inputs = encode(model, tuple(headscope.read(TEXTS[:6])))
    measured, judge = original_of(model, inputs, QUICK), judge_by_embeddings(model, QUICK)
    random = np.random.default_rng(0)
    log_alphas = {kind: random.normal(size=shape) for kind, shape in gate_shapes(measured).items()}
    by_gates = TrainedGates(model, log_alphas, 1.0, {}).original(measured)
    for threshold in (-1.0, -0.3, 0.0, 0.5):
        size = chosen(
            log_alphas, measured, even((0,), 2, 1), lambda some, top=16 - 8 * threshold: some.by_layer[0][0] <= top
        )
        kept = by_gates.kept(size)
        masks = [torch.zeros(3), torch.zeros(3, 32), torch.zeros(3, 4)]
        masks[0][list(size.layers)] = 1
        for mask, numbers in zip(masks[1:], (kept.neurons, kept.heads), strict=True):
            for layer in range(3):
                mask[layer, list(numbers[layer]) if numbers else slice(None)] = 1
        with gated(model, measured.parts, GateValues(*masks)):
            at_gates = judge.outputs(model, inputs)
        np.testing.assert_allclose(judge.outputs(by_gates.cut(size), inputs), at_gates, atol=1e-5)
        with silenced(model, Kept(kept.layers, kept.neurons, kept.heads)):
            np.testing.assert_allclose(judge.outputs(model, inputs), at_gates, atol=1e-5)


def test_gates_open_in_their_order_as_far_as_the_target_allows(original: Original) -> None:
    random, price = np.random.default_rng(1), price_of(original, SizeTarget(1.6, None))
    log_alphas = {kind: random.normal(size=shape) for kind, shape in gate_shapes(original).items()}
    least = smallest(original, 4)
    assert least == even((0,), 8, 1)
    size = chosen(log_alphas, original, least, lambda some: price.of(some) <= 1)
    assert 0.9 < price.of(size) <= 1
    assert chosen(log_alphas, original, least, lambda some: False).layers == (int(log_alphas["layers"].argmax()),)
    assert chosen(log_alphas, original, least, lambda some: True) == original.size


def test_heads_that_stay_are_those_of_the_saved_model(original: Original) -> None:
    log_alphas = {"layers": np.array([1.0, -3.0, 2.0]), "heads": np.arange(12.0).reshape(3, 4)}
    trained, size = TrainedGates(original.model, log_alphas, 1.0, {}), even((0, 2), 32, 2)
    stays = heads_that_stay(original, size, trained.original(original).kept(size))
    np.testing.assert_array_equal(stays, [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1]])
    made = trained.variables()
    np.testing.assert_allclose(made["layer_gate"], open_probability(torch.tensor([1.0, -3.0, 2.0])), rtol=1e-6)
    assert made["head_gate"].dims == ("layer", "head") and "open_neurons" not in made


def test_the_page_shows_the_gates_that_there_are(original: Original) -> None:
    """Those of neurons alone, too: without gates of layers."""
    neurons, layers = {"neurons": np.zeros((3, 8))}, {"layers": np.zeros(3)}
    for log_alphas, name in ((neurons, "open_neurons"), (layers, "layer_gate"), (neurons | layers, "layer_gate")):
        result = xr.Dataset(TrainedGates(original.model, log_alphas, 1.0, {}).variables())
        (figure,) = open_gates(Numbers(result))
        assert figure.name == figure.variable == name and figure.variable in result

"""Laws that every measure obeys, whatever it measures; a new file is tested as it appears, and so is the template."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope import catalog
from headscope.encoding.batch import Rows, Values
from headscope.encoding.encoded import Encoded
from headscope.results.variables import Variable
from headscope.results.vocabulary import DIMENSIONS, FEATURES, RELATIONS
from headscope.statistics.bootstrap import poisson_draws, tally
from support.hand_made import WHOLE, Block, Map, batch_of, measured, padded, tokens

MEASURES = {name: catalog.load("measures", name) for name in [*catalog.names("measures"), "_template"]}
UNITS = ("share of attention", "nats")
HEADS = 3
quick = settings(max_examples=15, deadline=None, derandomize=True, database=None)
each_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@st.composite
def inputs(draw: st.DrawFn) -> Encoded:
    """An input with [CLS] perhaps, a few separators, and any features and links."""
    body = draw(st.text("spo", min_size=1, max_size=8))
    classes = draw(st.sampled_from(["c", ""])) + body
    token = st.integers(0, len(classes) - 1)
    features = draw(st.lists(st.tuples(st.sampled_from(FEATURES), token), unique=True, max_size=6))
    links = draw(st.lists(st.tuples(st.sampled_from(RELATIONS), token, token), unique=True, max_size=5))
    return tokens(classes, features, links)


batches = st.lists(inputs(), min_size=1, max_size=5)


def maps_of(examples: list[Encoded], seed: int = 0) -> list[Map]:
    """Sharp random attention, with some exact zeros in it."""
    random = torch.Generator().manual_seed(seed)
    scores = [4 * torch.randn(HEADS, len(each), len(each), generator=random) for each in examples]
    return [each.softmax(-1).where(each > each.amax(-1, keepdim=True) - 8, 0) for each in scores]


def shown(found: Values) -> np.ndarray:
    """Values with NaN where they are not valid."""
    return torch.where(found.valid[:, None], found.values, torch.nan).numpy()


def test_there_are_measures() -> None:
    assert len(MEASURES) >= 9


@each_measure
def test_a_measure_says_what_it_is(measure) -> None:
    variable: Variable = measure.VARIABLE
    assert variable.name == measure.__name__.rpartition(".")[2].lstrip("_")
    assert set(variable.coords) <= set(DIMENSIONS) - {"layer", "head", "example", "bound"}
    assert all((variable.long_name, variable.units, variable.source))
    first = measure.__doc__.partition("\n")[0]
    assert first.endswith(".") and ("in nats" if variable.units == "nats" else "share") in first
    assert measure.observe.__doc__ and measure.finish.__doc__


@each_measure
@quick
@given(examples=batches)
def test_values_have_the_shape_that_the_labels_say(measure, examples: list[Encoded]) -> None:
    dims = tuple(map(len, measure.VARIABLE.coords.values()))
    found = measured(measure, maps_of(examples), examples)
    assert found.values.shape == (len(examples), HEADS, *dims)
    assert found.valid.shape == (len(examples), *dims)


@each_measure
@quick
@given(examples=batches)
def test_values_are_finite_and_in_range(measure, examples: list[Encoded]) -> None:
    found = measured(measure, maps_of(examples), examples)
    assert torch.isfinite(found.values).all()
    if measure.VARIABLE.units in UNITS:
        most = math.log(max(map(len, examples))) if measure.VARIABLE.units == "nats" else 1
        assert found.values.min() >= 0 and found.values.max() <= most + 1e-5


@each_measure
@quick
@given(examples=batches)
def test_a_batch_is_its_examples_one_by_one(measure, examples: list[Encoded]) -> None:
    maps = maps_of(examples)
    together = shown(measured(measure, maps, examples))
    alone = [shown(measured(measure, [each], [example])) for each, example in zip(maps, examples, strict=True)]
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-6)


@each_measure
@quick
@given(examples=batches, block=st.builds(Block, st.integers(1, 3), st.integers(1, 4)))
def test_blocks_add_up_to_the_whole(measure, examples: list[Encoded], block: Block) -> None:
    maps = maps_of(examples)
    whole, parts = (shown(measured(measure, maps, examples, each)) for each in (WHOLE, block))
    np.testing.assert_allclose(parts, whole, atol=1e-6)


@each_measure
@quick
@given(examples=batches, order=st.permutations(range(HEADS)))
def test_permuted_heads_have_permuted_values(measure, examples: list[Encoded], order: list[int]) -> None:
    maps = maps_of(examples)
    permuted = measured(measure, [each[order] for each in maps], examples)
    np.testing.assert_allclose(shown(permuted), shown(measured(measure, maps, examples))[:, order], atol=1e-6)


@each_measure
@quick
@given(examples=batches)
def test_what_padding_looks_at_counts_for_nothing(measure, examples: list[Encoded]) -> None:
    examples = [*examples, tokens("c" + "o" * 11 + "s")]
    maps, batch = maps_of(examples), batch_of(examples)
    usual = padded(maps)
    other = torch.where(batch.real[:, None, :, None], usual, torch.eye(usual.shape[-1]))
    found = []
    for attention in (usual, other * batch.real[:, None, None]):
        rows = Rows(attention, batch, slice(0, len(examples)), slice(0, attention.shape[2]))
        found.append(shown(measure.finish(measure.observe(rows), batch)))
    np.testing.assert_array_equal(*found)


@each_measure
@quick
@given(examples=batches)
def test_which_examples_have_a_statistic_does_not_depend_on_attention(measure, examples: list[Encoded]) -> None:
    one, other = (measured(measure, maps_of(examples, seed), examples) for seed in (0, 1))
    assert torch.equal(one.valid, other.valid)


@each_measure
@quick
@given(examples=st.lists(inputs(), min_size=3, max_size=6), cut=st.integers(1, 2))
def test_tallies_of_parts_are_the_tally_of_the_whole(measure, examples: list[Encoded], cut: int) -> None:
    found = measured(measure, maps_of(examples), examples)
    values, valid, draws = found.values.numpy(), found.valid.numpy(), poisson_draws(range(len(examples)), 0, 20)
    whole = tally(values, valid, draws)
    first, second = (tally(values[part], valid[part], draws[:, part]) for part in (slice(cut), slice(cut, None)))
    for parts in (first + second, second + first):
        np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-9)
        np.testing.assert_allclose(parts.interval, whole.interval, atol=1e-9)
        np.testing.assert_array_equal(parts.count, whole.count)

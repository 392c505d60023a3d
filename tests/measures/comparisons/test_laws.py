"""Laws that every comparison obeys; a new file is tested as it appears."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope import catalog
from headscope.encoding.batch import Rows, Values
from headscope.encoding.encoded import Encoded
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.studies.training.compare import STUDY
from headscope.testing.hand_made import WHOLE, BlockSize, Map, batch_of, compared, padded, tokens

COMPARISONS = {name: catalog.load("measures/comparisons", name) for name in catalog.names("measures/comparisons")}
WITHOUT_PADDING = {name: module for name, module in COMPARISONS.items() if name != "padded_similarity"}
HEADS = 3
quick = settings(max_examples=15, deadline=None, derandomize=True, database=None)
each_comparison = pytest.mark.parametrize("comparison", COMPARISONS.values(), ids=COMPARISONS)
each_without_padding = pytest.mark.parametrize("comparison", WITHOUT_PADDING.values(), ids=WITHOUT_PADDING)
inputs = st.text("spoc", min_size=1, max_size=9).map(tokens)
batches = st.lists(inputs, min_size=1, max_size=5)


def maps_of(examples: list[Encoded], seed: int) -> list[Map]:
    """Sharp random attention, with some exact zeros in it."""
    random = torch.Generator().manual_seed(seed)
    scores = [4 * torch.randn(HEADS, len(encoded), len(encoded), generator=random) for encoded in examples]
    sharp = [score.softmax(-1).where(score > score.amax(-1, keepdim=True) - 8, 0) for score in scores]
    return [weights / weights.sum(-1, keepdim=True) for weights in sharp]


def both(examples: list[Encoded]) -> tuple[list[Map], list[Map]]:
    return maps_of(examples, seed=0), maps_of(examples, seed=1)


def shown(found: Values) -> np.ndarray:
    """Values with NaN where they are not valid."""
    return torch.where(found.valid[:, None], found.values, torch.nan).numpy()


def test_there_are_comparisons() -> None:
    assert len(COMPARISONS) >= 3


@each_comparison
def test_a_comparison_says_what_it_is(comparison) -> None:
    number = STUDY.labels[comparison.__name__.rpartition(".")[2]]
    first = comparison.__doc__.partition("\n")[0]
    assert first.endswith(".") and number.unit in first
    assert comparison.observe.__doc__ and comparison.finish.__doc__


@each_comparison
@quick
@given(examples=batches)
def test_values_are_finite_and_not_negative(comparison, examples: list[Encoded]) -> None:
    for ones, others in (both(examples), (maps_of(examples, 0), maps_of(examples, 0))):
        found = compared(comparison, ones, others, examples)
        assert found.values.shape == (len(examples), HEADS) and found.valid.all()
        assert torch.isfinite(found.values).all()
        assert 0 <= found.values.min() and found.values.max() <= 1


@each_without_padding
@quick
@given(examples=batches)
def test_a_batch_is_its_examples_one_by_one(comparison, examples: list[Encoded]) -> None:
    ones, others = both(examples)
    together = shown(compared(comparison, ones, others, examples))
    alone = [
        shown(compared(comparison, [one], [other], [example]))
        for one, other, example in zip(ones, others, examples, strict=True)
    ]
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-6)


@each_comparison
@quick
@given(examples=batches, block=st.builds(BlockSize, st.integers(1, 3), st.integers(1, 4)))
def test_blocks_add_up_to_the_whole(comparison, examples: list[Encoded], block: BlockSize) -> None:
    ones, others = both(examples)
    unsplit, parts = (shown(compared(comparison, ones, others, examples, size)) for size in (WHOLE, block))
    np.testing.assert_allclose(parts, unsplit, atol=1e-6)


@each_comparison
@quick
@given(examples=batches, order=st.permutations(range(HEADS)))
def test_permuted_heads_have_permuted_values(comparison, examples: list[Encoded], order: list[int]) -> None:
    ones, others = both(examples)
    permuted = compared(
        comparison, [attention[order] for attention in ones], [attention[order] for attention in others], examples
    )
    np.testing.assert_allclose(
        shown(permuted), shown(compared(comparison, ones, others, examples))[:, order], atol=1e-6
    )


@each_without_padding
@quick
@given(examples=batches)
def test_what_padding_looks_at_counts_for_nothing(comparison, examples: list[Encoded]) -> None:
    examples = [*examples, tokens("c" + "o" * 11 + "s")]
    batch, everything = batch_of(examples), slice(0, len(examples))
    usual = [padded(maps) for maps in both(examples)]
    other = [
        torch.where(batch.real[:, None, :, None], attention, torch.eye(attention.shape[-1])) for attention in usual
    ]
    other = [attention * batch.real[:, None, None] for attention in other]
    found = []
    for ones, others in (usual, other):
        rows = [Rows(attention, batch, everything, slice(0, attention.shape[2])) for attention in (ones, others)]
        found.append(shown(comparison.finish(comparison.observe(*rows), batch)))
    np.testing.assert_array_equal(*found)


@each_comparison
@quick
@given(
    examples=st.lists(st.text("spoc", min_size=1, max_size=9).map(tokens), min_size=3, max_size=6),
    cut=st.integers(1, 2),
)
def test_tallies_of_parts_are_the_tally_of_the_whole(comparison, examples: list[Encoded], cut: int) -> None:
    found = compared(comparison, *both(examples), examples)
    values, valid, draws = found.values.numpy(), found.valid.numpy(), poisson_draws(range(len(examples)), 0, 20)
    unsplit = tally(values, valid, draws)
    first, second = (tally(values[part], valid[part], draws[:, part]) for part in (slice(cut), slice(cut, None)))
    for parts in (first + second, second + first):
        np.testing.assert_allclose(parts.mean, unsplit.mean, atol=1e-9)
        np.testing.assert_allclose(parts.interval, unsplit.interval, atol=1e-9)
        np.testing.assert_array_equal(parts.count, unsplit.count)

"""The laws that every measure obeys, whatever it measures; each raises `AssertionError` where it is broken.

Attention and inputs are made by hand: the passes' part without a model.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from headscope.encoding.batch import Rows
from headscope.encoding.encoded import Encoded
from headscope.passes.measures import checked
from headscope.results.vocabulary import dimensions
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.testing.hand_made import (
    WHOLE,
    BlockSize,
    Map,
    batch_of,
    maps_of,
    measured,
    padded,
    random_input,
    shown,
    tokens,
)

HEADS, CLOSE = 3, 1e-6


def check_measure(measure: Any, *, batches: int = 20, seed: int = 0) -> None:
    """Check a measure of your own against the laws of all measures, on random attention.

    Values are finite, have the shape of the labels, and do not depend on the batch, on padding, on the size of blocks,
    or on the order of heads; shares are from 0 to 1; tallies of parts are those of the whole.

    * `measure`: a module, or an object of your class, with `VARIABLE`, `observe` and `finish`.
    * `batches`: how many random batches; `seed`: of these.

    Raises `AssertionError` that names the law, and `HeadscopeError` for what is no measure.

    >>> from headscope.measures import entropy
    >>> check_measure(entropy, batches=2)
    """
    checked(measure)
    random = np.random.default_rng(seed)
    for _ in range(batches):
        examples = [random_input(random) for _ in range(random.integers(3, 6))]
        maps = maps_of(examples, HEADS, int(random.integers(1 << 30)))
        values_are_as_labelled(measure, maps, examples)
        batch_is_its_examples(measure, maps, examples)
        blocks_add_up(measure, maps, examples, BlockSize(int(random.integers(1, 4)), int(random.integers(1, 5))))
        heads_permute(measure, maps, examples, random.permutation(HEADS).tolist())
        padding_counts_for_nothing(measure, maps, examples)
        examples_do_not_depend_on_attention(measure, maps, examples)
        parts_merge(measure, maps, examples, cut=1)


def values_are_as_labelled(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded]) -> None:
    """Values are finite and have the shape and the range that the labels say."""
    coords, units = measure.VARIABLE.coords, measure.VARIABLE.units
    assert set(coords) <= set(dimensions()) - {"layer", "head", "example", "bound"}, f"dimensions {list(coords)}"
    sizes, values = tuple(map(len, coords.values())), measured(measure, maps, examples)
    heads = maps[0].shape[0]
    assert values.values.shape == (len(examples), heads, *sizes), "values: [example, head, *coords] is expected"
    assert values.valid.shape == (len(examples), *sizes), "valid: [example, *coords] is expected"
    assert torch.isfinite(values.values).all(), "values are not finite"
    if units in ("share of attention", "nats"):
        most = math.log(max(map(len, examples))) if units == "nats" else 1
        assert values.values.min() >= 0 and values.values.max() <= most + 1e-5, f"values are not from 0 to {most}"


def batch_is_its_examples(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded]) -> None:
    """A batch has the values of its examples, one by one."""
    together = shown(measured(measure, maps, examples))
    alone = [
        shown(measured(measure, [attention], [example])) for attention, example in zip(maps, examples, strict=True)
    ]
    _same("a batch is its examples one by one", together, np.concatenate(alone))


def blocks_add_up(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded], block: BlockSize) -> None:
    """What is observed of blocks of rows adds up to the whole."""
    _same("blocks add up", *(shown(measured(measure, maps, examples, size)) for size in (block, WHOLE)))


def heads_permute(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded], order: Sequence[int]) -> None:
    """Permuted heads have permuted values."""
    permuted = measured(measure, [attention[list(order)] for attention in maps], examples)
    _same("heads permute", shown(permuted), shown(measured(measure, maps, examples))[:, list(order)])


def padding_counts_for_nothing(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded]) -> None:
    """What padding attends to does not matter."""
    longer = tokens("c" + "o" * 11 + "s")
    examples, maps = [*examples, longer], [*maps, *maps_of([longer], maps[0].shape[0])]
    batch, usual = batch_of(examples), padded(maps)
    other = torch.where(batch.real[:, None, :, None], usual, torch.eye(usual.shape[-1]))
    values = []
    for attention in (usual, other * batch.real[:, None, None]):
        rows = Rows(attention, batch, slice(0, len(examples)), slice(0, attention.shape[2]))
        values.append(shown(measure.finish(measure.observe(rows), batch)))
    assert np.array_equal(*values, equal_nan=True), "padding changes values"


def examples_do_not_depend_on_attention(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded]) -> None:
    """Which examples have a value depends on their tokens alone."""
    others = maps_of(examples, maps[0].shape[0], seed=1)
    first, second = (measured(measure, some, examples) for some in (maps, others))
    assert torch.equal(first.valid, second.valid), "which examples are valid depends on attention"


def parts_merge(measure: Any, maps: Sequence[Map], examples: Sequence[Encoded], cut: int) -> None:
    """Tallies of two parts, in either order, are the tally of the whole."""
    found = measured(measure, maps, examples)
    values, valid, draws = found.values.numpy(), found.valid.numpy(), poisson_draws(range(len(examples)), 0, 20)
    complete = tally(values, valid, draws)
    first, second = (tally(values[part], valid[part], draws[:, part]) for part in (slice(cut), slice(cut, None)))
    for parts in (first + second, second + first):
        _same("tallies merge", parts.mean, complete.mean)
        _same("intervals merge", parts.interval, complete.interval)
        assert np.array_equal(parts.count, complete.count), "counts do not merge"


def _same(law: str, first: np.ndarray, second: np.ndarray) -> None:
    close = first.shape == second.shape and np.allclose(first, second, atol=CLOSE, equal_nan=True)
    assert close, f"broken law: {law}"

"""Every observer finds the same in blocks of some heads and of the keys that a mask leaves as in whole maps."""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headscope import catalog
from headscope.capture import observer as blocks
from headscope.capture.attention_mask import MASKED
from headscope.capture.key_ranges import key_ranges, ranged_blocks
from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Link, Mention
from headscope.measures import SURFACE
from headscope.passes.attention_maps import MapChoice, MapObserver, _MapKeeper
from headscope.passes.batches import collate
from headscope.passes.forward import RowObservers
from headscope.passes.observing import MeasureObserver
from headscope.studies.heads.clusters.observer import DivergenceObserver
from headscope.studies.heads.contacts.observer import PairObserver
from headscope.studies.heads.contacts.pairs import Contacts
from headscope.studies.heads.coreference.cases import anaphoric, mentions
from headscope.studies.heads.coreference.observer import MentionObserver
from headscope.studies.heads.induction.observer import AttentionObserver, ReachObserver
from headscope.studies.heads.patterns.observer import PatternObserver
from headscope.studies.heads.probe.observer import TreebankObserver
from headscope.studies.heads.relations.observer import LinkObserver
from headscope.studies.heads.syntax.observer import DependencyObserver
from headscope.studies.heads.trees.observer import TreeObserver, means_of
from headscope.training.head_numbers import _BatchMaps
from headscope.viewer.focus_observer import FocusObserver
from headscope.viewer.text_maps import _MapWriter
from support.made_answers import tree
from support.tiny import tiny_tokenizer

HEADS = (4, 4)
MEASURES = {name: catalog.load("measures", name) for name in [*SURFACE, "_template"]}
COMPARISONS = {name: catalog.load("measures/comparisons", name) for name in catalog.names("measures/comparisons")}


@cache
def inputs() -> tuple[Encoded, ...]:
    """Sentences with trees, links and mentions, of different lengths."""
    long = tree("the catty saw her slept .", (2, 3, 0, 3, 3, 3), "det nsubj root obj obj punct")
    links = (Link("Seer", (0, 1), (2,)), Link("Seen", (3,), (2,)))
    said = (Mention("a", 0, 2), Mention("b", 2, 3), Mention("a", 3, 4))
    made = (
        Example("one", (replace(long, links=links, mentions=said), tree("it ran birds", (2, 0, 2), "nsubj root obj"))),
        Example("two", (replace(tree("an old dog ran", (3, 3, 4, 0), "det amod nsubj root"), links=links[:1]),)),
    )
    return tuple(Words(tiny_tokenizer(), 64, aligned=True).encode(made))


def batch() -> Batch:
    """The inputs, with links of near and far tokens in both directions."""
    links = [(0, 0, 2, 1), (0, 1, 1, 14), (0, 0, 14, 1), (1, 0, 6, 0), (1, 1, 0, 6)]
    made = collate(list(inputs()), pad=0, class_exists=[True] * 4, device=torch.device("cpu"))
    return replace(made, links=torch.tensor(links), link_ends=(0, 3, 5))


def classified(grids: Tensor) -> Tensor:
    return torch.stack([grids.mean((1, 2, 3)), grids.amax((1, 2, 3)), grids[:, 1].std((1, 2))], dim=-1).softmax(-1)


def cases() -> dict[str, Any]:
    return {example.id: tuple(anaphoric(list(mentions(example.first)))) for example in batch().examples}


def tokens() -> int:
    return batch().real.shape[1]


class Compared(MeasureObserver):
    """Sees the rows beside those of another model, which sees the same keys."""

    def add(self, layer: int, *rows: Rows) -> None:
        (one,) = rows
        squares = one.attention.square()
        super().add(layer, one, replace(one, attention=squares / squares.sum(-1, keepdim=True)))


# Of each class, observers of all its kinds.
OBSERVERS: dict[str, list[Callable[[], Any]]] = {
    "MeasureObserver": [lambda: MeasureObserver(MEASURES)],
    "MeasureObserver of two models": [lambda: Compared(COMPARISONS)],
    "DependencyObserver": [DependencyObserver, lambda: DependencyObserver(as_coded=True)],
    "LinkObserver": [LinkObserver],
    "MentionObserver": [lambda: MentionObserver(cases()), lambda: MentionObserver(cases(), toward=True)],
    "PairObserver": [lambda: PairObserver(Contacts(None, {}), apart=1)],
    "TreeObserver": [lambda: TreeObserver(means_of(HEADS))],
    "TreebankObserver": [TreebankObserver],
    "PatternObserver": [lambda: PatternObserver(classified)],
    "DivergenceObserver": [
        lambda: DivergenceObserver(HEADS, ["entropy"]),
        lambda: DivergenceObserver(HEADS, as_coded=True),
    ],
    "FocusObserver": [FocusObserver],
    "AttentionObserver": [lambda: AttentionObserver(2, np.full((len(HEADS), 2), np.inf))],
    "ReachObserver": [ReachObserver],
    "MapObserver": [lambda: MapObserver([MapChoice(encoded, 1, 2) for encoded in inputs()])],
    "_MapWriter": [lambda: _MapWriter(np.zeros((2, 4, tokens())), np.zeros((2, 4, tokens(), tokens()), np.uint8))],
    "_MapKeeper": [lambda: _MapKeeper(batch(), HEADS)],
}
# What these keep, where `finish` returns nothing.
KEPT = {"MapObserver": ["maps"], "_MapWriter": ["maximum", "levels"], "_MapKeeper": ["maps"]}


@st.composite
def masks(draw: st.DrawFn) -> Tensor:
    """Causal, sliding, prefix, packed and any masks over padding, perhaps with rows that see nothing."""
    length, real = tokens(), batch().real
    distance = torch.arange(length)[None] - torch.arange(length)[:, None]
    seen = (distance >= -draw(st.integers(0, length))) & (distance <= draw(st.integers(0, length)))
    kind = draw(st.sampled_from(["band", "causal", "prefix", "packed", "any", "empty"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    if kind == "causal":
        seen = distance <= 0
    if kind == "prefix":
        seen[:, :4] = True
    if kind == "packed":
        seen[:7, 7:] = seen[7:, :7] = False
    if kind == "any":
        seen = torch.from_numpy(rng.random(seen.shape) < 0.4) | (distance == 0)
    if kind == "empty":
        seen[rng.integers(0, length, 2)] = False
    return torch.where(seen & real[:, None, None], 0.0, MASKED)


def shown(make: Callable[[], Any], layers: list[Tensor], parts: Sequence[tuple[slice, ...]]) -> Any:
    """What an observer finds in some blocks of each layer."""
    look, kind = make(), make().__class__.__name__
    if hasattr(look, "start"):
        look.start(batch())
    for layer, attention in enumerate(layers):
        for examples, heads, queries, keys in parts:
            if kind == "_MapWriter" and examples.start > 0:  # it sees one input
                continue
            look(layer, attention[examples, heads, queries, keys].clone(), examples, queries, None, heads, keys)
    return [getattr(look, name) for name in KEPT[kind]] if kind in KEPT else look.finish()


def assert_same(one: Any, other: Any) -> None:
    """Equal numbers, within rounding, wherever they stand."""
    assert type(one) is type(other)
    if is_dataclass(one):
        one, other = ([getattr(instance, field.name) for field in fields(one)] for instance in (one, other))
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, its in zip(one, other, strict=True):
            assert_same(mine, its)
    elif isinstance(one, np.ndarray | Tensor) and np.asarray(one).dtype.kind == "f":
        coarse = 1e-3 if np.asarray(one).dtype == np.float16 else 1e-6
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=coarse)
    else:
        np.testing.assert_array_equal(one, other)


def test_every_observer_is_here() -> None:
    sources = [path.read_text(encoding="utf-8") for path in catalog.ROOT.rglob("*.py")]
    written = {name for text in sources for name in re.findall(r"^class (\w+)\(RowsObserver\)", text, re.MULTILINE)}
    written -= {RowObservers.__name__}  # which shows others what it is shown
    written -= {_BatchMaps.__name__}  # which asks for all keys
    assert not _BatchMaps.key_ranges
    assert len(written) >= 10 and written <= set(OBSERVERS)


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, makers in OBSERVERS.items() for make in makers])
@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(mask=masks(), elements=st.sampled_from([2**5, 2**8, 2**19]))
def test_blocks_with_some_heads_and_keys_are_whole_maps(make: Callable[[], Any], mask: Tensor, elements: int) -> None:
    generator = torch.Generator().manual_seed(0)
    size = (2, HEADS[0], tokens(), tokens())
    layers = [(2 * torch.randn(size, generator=generator) + mask).softmax(-1) for _ in HEADS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_ELEMENTS", elements)
        patch.setattr(blocks, "LEAST_ROWS", 3)
        ranges = key_ranges(mask, 2, *size[2:])
        parts = list(ranged_blocks(ranges, *size, torch.device("cpu")))
    one_block = [tuple(slice(0, number) for number in size)]
    assert_same(shown(make, layers, parts), shown(make, layers, one_block))

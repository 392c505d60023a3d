"""Laws that every measure obeys, whatever it measures; a new file is tested as it appears, and so is the template."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope import catalog
from headscope.encoding.encoded import Encoded
from headscope.results.variables import Variable
from headscope.results.vocabulary import FEATURES, RELATIONS, dimensions
from headscope.testing import measure_laws as laws
from headscope.testing.hand_made import BlockSize, maps_of, tokens

MEASURES = {name: catalog.load("measures", name) for name in [*catalog.names("measures"), "_template"]}
HEADS = 3
quick = settings(max_examples=8, deadline=None, derandomize=True, database=None)
each_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@st.composite
def inputs(draw: st.DrawFn) -> Encoded:
    """An input with [CLS] perhaps, a few separators, any features and links, and perhaps words of a pair."""
    body = draw(st.text("spo", min_size=1, max_size=8))
    classes = draw(st.sampled_from(["c", ""])) + body
    token = st.integers(0, len(classes) - 1)
    features = draw(st.lists(st.tuples(st.sampled_from(FEATURES), token), unique=True, max_size=6))
    links = draw(st.lists(st.tuples(st.sampled_from(RELATIONS), token, token), unique=True, max_size=5))
    pair = draw(st.text("aab.", min_size=len(classes), max_size=len(classes)) | st.just(""))
    upos = draw(st.lists(st.sampled_from(["NOUN", "VERB", ""]), min_size=len(classes), max_size=len(classes)))
    counts = draw(st.lists(st.integers(-1, 8), min_size=len(classes), max_size=len(classes)) | st.just([]))
    return tokens(classes, features, links, pair=pair, upos=upos, counts=counts)


batches = st.lists(inputs(), min_size=3, max_size=5)


def test_there_are_measures() -> None:
    assert len(MEASURES) >= 9


@each_measure
def test_a_measure_says_what_it_is(measure) -> None:
    variable: Variable = measure.VARIABLE
    assert variable.name == measure.__name__.rpartition(".")[2].lstrip("_")
    assert set(variable.coords) <= set(dimensions()) - {"layer", "head", "example", "bound"}
    assert all((variable.long_name, variable.units, variable.source))
    first = measure.__doc__.partition("\n")[0]
    assert first.endswith(".") and ("in nats" if variable.units == "nats" else "share") in first
    assert measure.observe.__doc__ and measure.finish.__doc__


@each_measure
@quick
@given(
    examples=batches,
    block=st.builds(BlockSize, st.integers(1, 3), st.integers(1, 4)),
    order=st.permutations(range(HEADS)),
    cut=st.integers(1, 2),
)
def test_a_measure_obeys_the_laws(
    measure, examples: list[Encoded], block: BlockSize, order: list[int], cut: int
) -> None:
    maps = maps_of(examples, HEADS)
    laws.values_are_as_labelled(measure, maps, examples)
    laws.batch_is_its_examples(measure, maps, examples)
    laws.blocks_add_up(measure, maps, examples, block)
    laws.heads_permute(measure, maps, examples, order)
    laws.padding_counts_for_nothing(measure, maps, examples)
    laws.examples_do_not_depend_on_attention(measure, maps, examples)
    laws.parts_merge(measure, maps, examples, cut)

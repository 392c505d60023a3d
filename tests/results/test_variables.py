"""From heads in a row to labelled layers and heads."""

import numpy as np
import pytest

from headscope.results.variables import PAIRED, Count, Variable, Variables, label
from headscope.results.vocabulary import OFFSETS
from headscope.statistics.bootstrap import tally
from headscope.study import Number, by_name

WORDS = Variable("made", "something made", "units", "a source", {"offset": OFFSETS}, cases="words")
VARIABLE = Variable("made", "something made", "units", "a source", {"offset": OFFSETS})


def labelled(heads: tuple[int, ...]):
    values = np.arange(sum(heads) * 3, dtype=float).reshape(1, sum(heads), 3)
    return label(VARIABLE, tally(values, np.array([[True, True, False]]), np.ones((4, 1))), heads)


def test_layers_and_heads_count_from_1() -> None:
    made = labelled((2, 2))["made"]
    assert made.dims == ("layer", "head", "offset")
    assert made["layer"].values.tolist() == [1, 2] and made["head"].values.tolist() == [1, 2]
    assert made.sel(layer=2, head=1, offset=-1) == 6 and made.sel(layer=1, head=2, offset=0) == 4


def test_layers_of_fewer_heads_are_filled_with_missing_values() -> None:
    made = labelled((1, 3, 2))["made"]
    assert made.sizes == {"layer": 3, "head": 3, "offset": 3}
    first = made.sel(offset=-1).values
    np.testing.assert_array_equal(first, [[0, np.nan, np.nan], [3, 6, 9], [12, 15, np.nan]])


def test_each_mean_has_its_interval_and_count() -> None:
    made = labelled((2,))
    assert list(made) == ["made", "made_ci", "made_n_examples"]
    assert made["made_ci"].dims == ("layer", "head", "offset", "bound")
    assert made["made_ci"].sel(bound="upper", offset=0).values.tolist() == [[1, 4]]
    assert made["made_n_examples"].to_series().to_dict() == {-1: 1, 0: 1, 1: 0}
    assert np.isnan(made["made"].sel(offset=1)).all()
    assert all({"long_name", "units", "source"} <= set(array.attrs) for array in made.values())
    assert made["made_n_examples"].units == "examples"


def test_what_a_mean_is_over_is_said() -> None:
    few = tally(np.ones((2, 1, 3)), np.array([[5, 2, 0], [1, 0, 0]]), np.ones((4, 2)))
    count = label(WORDS, few, (1,))["made_n_examples"]
    assert count.values.tolist() == [6, 2, 0]
    assert (count.units, count.long_name) == ("words", "words with something made")


def test_a_variable_is_collected_with_its_interval_and_its_count() -> None:
    number = Number("score", "a score", "share", ("layer", "relation"))
    variables = Variables({"relation": ["all", "obj"]}, "a paper", by_name([number]))
    count = Count([8, 4], "words of each relation", "words", ("relation",))
    scores, bounds = np.array([[0.5, 0.25]]), np.array([[[0.25, 0.75], [0.125, 0.5]]])
    score = variables.add("score", scores, interval=bounds, count=count)
    assert list(variables.arrays) == ["score", "score_ci", "score_n_examples"] and variables.arrays["score"] is score
    assert variables.arrays["score_ci"].sel(layer=1, relation="obj", bound="upper") == 0.5
    assert variables.arrays["score_n_examples"].sel(relation="obj") == 4
    names = [(array.long_name, array.units, array.source) for array in variables.arrays.values()]
    assert names == [
        ("a score", "share", "a paper"),
        ("95% bootstrap interval of a score", "share", "a paper"),
        ("words of each relation", "words", "a paper"),
    ]


def test_a_plain_count_is_of_examples_and_a_variable_may_have_a_source_of_its_own() -> None:
    gain = Number("gain", "a gain", "score", source="a test")
    variables = Variables({}, "a paper", by_name([gain]), **PAIRED)
    variables.add("gain", 0.5, interval=[0.25, 0.75], count=9)
    names = {name: (array.long_name, array.source) for name, array in variables.arrays.items()}
    assert names == {
        "gain": ("a gain", "a test"),
        "gain_ci": ("95% paired bootstrap interval of a gain", "a test"),
        "gain_n_examples": ("examples of a gain", "a test"),
    }
    assert variables.arrays["gain_n_examples"].units == "examples"


def test_a_variable_takes_its_words_and_dimensions_from_the_table() -> None:
    score = Number("score", "a score", "share", ("relation",))
    gain = Number("gain", "a gain", "points", source="a test")
    variables = Variables({"relation": ["all", "obj"]}, "a paper", by_name([score, gain]))
    score = variables.add("score", [0.5, 0.25], interval=[[0, 1], [0, 1]])
    assert score.sel(relation="obj") == 0.25 and variables.arrays["score_ci"].dims == ("relation", "bound")
    assert score.attrs == {"long_name": "a score", "units": "share", "source": "a paper"}
    assert variables.add("gain", 1).attrs == {"long_name": "a gain", "units": "points", "source": "a test"}


def test_a_variable_that_no_table_has_is_refused() -> None:
    with pytest.raises(KeyError, match="other"):
        Variables({}, "a paper", {"score": Number("score", "a score", "share")}).add("other", 1)

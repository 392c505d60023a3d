"""The chart of a variable: that of the report, or one by its dimensions."""

import pytest

import headscope
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from support.profile_result import profile_result


def marks(chart: object) -> str:
    return str(chart.to_dict())  # type: ignore[attr-defined]


def test_a_variable_has_the_figure_of_the_report() -> None:
    result = profile_result()
    figures = {figure.name: marks(figure.chart) for figure in study_page(result).figures()}
    assert marks(headscope.plot(result, "entropy")) == figures["entropy"]
    assert marks(headscope.plot(result, "entropy-by_layer")) == figures["entropy-by_layer"]
    assert marks(headscope.plot(result, "feature_attention")) == figures["feature_attention-words"]


def test_a_variable_without_figure_is_drawn_by_its_dimensions() -> None:
    result = profile_result()
    shares = headscope.plot(result, "token_share").to_dict()
    assert shares["layer"][0]["mark"]["type"] == "bar"
    chosen = headscope.plot(result, "attention_offset", offset=-1).to_dict()
    assert chosen["mark"]["type"] == "rect" and "previous token" in chosen["title"]["text"]
    assert headscope.plot(result, "attention_offset", layer=2).to_dict()["title"]["text"].endswith("layer 2")


@pytest.mark.parametrize(
    ("name", "labels", "line"),
    [
        (
            "entrpy",
            {},
            "the result has no variable or figure 'entrpy'; did you mean 'entropy'? there are: attention_to",
        ),
        ("atlas", {}, "the result has no variable or figure 'atlas'; there are: attention_to"),
        ("uniform_entropy", {}, "variable 'uniform_entropy' has no numbers to draw; print result['uniform_entropy']"),
        ("entropy", {"offset": 1}, "variable 'entropy' has no dimension 'offset'; there are: layer, head"),
        ("attention_offset", {"offset": 2}, "dimension 'offset' has no label 2; there are: -1, 0, 1"),
    ],
)
def test_a_wrong_name_lists_the_right_ones(name: str, labels: dict[str, int], line: str) -> None:
    with pytest.raises(HeadscopeError) as error:
        headscope.plot(profile_result(), name, **labels)
    assert str(error.value).startswith(line)


def test_more_dimensions_than_a_chart_has_want_a_label() -> None:
    result = profile_result()
    result["wide"] = result["entropy"].expand_dims(half=2, probe=["a", "b"])
    with pytest.raises(HeadscopeError, match=r"too many dimensions .* plot\(result, 'wide', head=1\)"):
        headscope.plot(result, "wide")

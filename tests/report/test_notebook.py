"""A result as the output of a notebook's cell, offline and escaped; the chart of a variable, of the report or not."""

import re
from pathlib import Path

import pytest
import xarray as xr
from IPython.core.interactiveshell import InteractiveShell
from selenium import webdriver
from selenium.webdriver.common.by import By

import headscope
from headscope.errors import HeadscopeError
from headscope.front.notebook import show_results_in_notebooks
from headscope.report.notebook import dataset_html, result_html
from headscope.report.study_page import study_page
from support.profile_result import profile_result
from support.tiny import tiny_bert, tiny_tokenizer

TEXTS = ["The old dog ran.", "She saw the bird."]


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return headscope.profile(headscope.wrap(tiny_bert(), tiny_tokenizer()), TEXTS)


def test_a_result_shows_its_findings_its_atlas_and_its_variables(result: xr.Dataset) -> None:
    html = result_html(result)
    assert all(finding.topic in html for finding in study_page(result).highlights())
    assert html.count("data:image/png;base64,") == 12 and 'title="Head 3-4: ' in html
    assert "xr-wrap" in html  # what xarray shows


def _style(html: str) -> str:
    return "".join(re.findall(r"<style>.*?</style>", html, re.DOTALL))


def test_nothing_is_fetched_or_run(result: xr.Dataset) -> None:
    html = result_html(result)
    own = html.partition("<summary>Variables")[0]
    assert "<script" not in html and not re.search(r"(src|href)=[\"']?(https?:|//)|url\(|@import", own)


@pytest.mark.parametrize("name", ["model", "corpus", "model_type"])
def test_text_of_a_result_is_escaped(result: xr.Dataset, name: str) -> None:
    evil = result.assign_attrs({name: "<img src=x onerror=alert(1)>"})
    evil["typical_token"] = evil["typical_token"].copy()
    evil["typical_token"].values[:, 1] = "<script>alert(1)</script>"
    html = result_html(evil)
    assert "<img src=x" not in html and "<script>alert" not in html


def test_style_is_for_the_result_alone(result: xr.Dataset) -> None:
    selectors = re.findall(r"([^{}]+)\{", _style(result_html(result).partition("<ol>")[0]).removeprefix("<style>"))
    parts = [part.strip() for selector in selectors for part in selector.split(",")]
    assert parts and all(part.startswith(".headscope-result") for part in parts)


def test_other_data_sets_and_slices_are_shown_by_xarray(result: xr.Dataset) -> None:
    other = xr.Dataset({"x": ("y", [1.0])})
    assert "headscope-result" not in dataset_html(other) and "xr-wrap" in dataset_html(other)
    part = result.isel(layer=0)
    assert "headscope-result" not in dataset_html(part) and "xr-wrap" in dataset_html(part)


def test_ipython_shows_a_result(result: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    show_results_in_notebooks()
    shown, _ = shell.display_formatter.format(result)  # type: ignore[union-attr]
    assert "headscope-result" in shown["text/html"] and "xarray.Dataset" in shown["text/plain"]


def test_output_is_read_in_a_browser(result: xr.Dataset, browser: webdriver.Chrome, tmp_path: Path) -> None:
    page = tmp_path / "cell.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{result_html(result)}", encoding="utf-8")
    browser.get(page.as_uri())
    images = browser.find_elements(By.CSS_SELECTOR, ".hs-atlas img")
    assert len(images) == 12 and all(image.is_displayed() and image.size["width"] >= 40 for image in images)
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


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
    assert headscope.plot(result, "attention_offset", offset="previous token").to_dict() == chosen
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

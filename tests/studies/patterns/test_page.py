"""The report of `patterns`: what it says and draws, of one corpus and of several."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from headscope import results
from headscope.report import write
from headscope.report.study_page import study_page
from headscope.studies.heads.patterns.study import same_in_all
from support.patterns_result import patterns_result
from support.snapshot import assert_page

TASKS = ("RTE", "MRPC", "QQP")
DRAWN = "return [...document.querySelectorAll('[data-chart]')].every((place) => place.dataset.state === 'drawn')"


def test_the_pages_say_the_planted_numbers() -> None:
    """From the second corpus on head 2-2 has another pattern."""
    several = patterns_result(TASKS)
    kept = several.assign(same_in_all(several["dominant"]))
    assert_page(__file__, {"one corpus": patterns_result(), "three corpora": several, "heads that keep theirs": kept})


def specs(*tasks: str) -> dict[str, dict[str, Any]]:
    return {figure.name: figure.chart.to_dict(validate=True) for figure in study_page(patterns_result(tasks)).figures()}


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return max(spec["datasets"].values(), key=len)


@pytest.mark.parametrize("tasks", [(), TASKS])
def test_bars_stack_to_the_whole_and_begin_with_what_is_compared(tasks: tuple[str, ...]) -> None:
    spec = specs(*tasks)["share_total"]
    shares = rows(spec)
    assert len(shares) == 5 * max(1, len(tasks))
    assert {row["pattern"] for row in shares if row["place"] == 0} == {"heterogeneous"}
    assert sum(row["value"] for row in shares) == pytest.approx(max(1, len(tasks)))
    assert {"lower", "upper", "n_examples"} <= set(shares[0])
    assert ({"end": 0.32}, {"end": 0.61}) in spec["datasets"].values()
    colours = spec["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert colours == ["vertical", "diagonal", "vertical + diagonal", "near-even block", "heterogeneous"]


def test_maps_are_drawn_with_their_tokens_in_shades_of_their_maximum() -> None:
    found = specs()
    assert {name for name in found if name.startswith("map-")} == {
        "map-vertical", "map-diagonal", "map-vertical_diagonal", "map-heterogeneous",
    }  # fmt: skip
    (one,) = found["map-vertical"]["hconcat"]
    assert one["title"]["text"] == "2-1 (0.98), up to 0.70"
    assert one["encoding"]["color"]["scale"]["domain"][::8] == [0, 0.7]
    assert len(rows(found["map-vertical"])) == 16
    assert rows(found["map-vertical"])[1] == {"query": 0, "key": 1, "from": "[CLS]", "to": "if", "value": 0.1}


def test_the_words_of_a_block_are_true_of_even_attention_everywhere() -> None:
    result = patterns_result()
    for name in ("share", "share_total"):
        result[name][:] = (result["pattern"] == "block").astype(float)
    page = study_page(result)
    first = page.highlights()[0]
    assert (
        first.topic == "100% of the maps are near-even block" and "over the input or inside its segments" in first.text
    )
    texts = [f"{one.topic} {one.text}" for one in (*page.highlights(), *page.findings())]
    said = [text for text in texts if "block" in text.lower()]
    assert not [one for one in (*page.highlights(), *page.findings()) if one.claim]
    assert "Each of 4 heads has a main pattern" in str(texts)
    assert "No head clearly has one in half of its maps." in str(texts)
    assert len(said) >= 2 and all("near-even block" in text.lower() for text in said)
    assert {kind.word for kind in page.kinds()} == {"near-even block"}


@pytest.mark.parametrize("tasks", [(), TASKS])
@pytest.mark.parametrize("part", [{}, {"pattern": 0}, {"pattern": -1}, {"task": 0}])
def test_shares_that_are_missing_are_left_out(tasks: tuple[str, ...], part: dict[str, int]) -> None:
    result = patterns_result(tasks)
    result["share_total"][{dim: at for dim, at in part.items() if dim in result.dims}] = np.nan
    page = study_page(result)
    findings = [*page.highlights(), *page.findings()]
    assert findings and not [
        finding for finding in findings if "nan" in f"{finding.topic} {finding.text}".replace("%", "").split()
    ]


def test_maps_are_no_table() -> None:
    assert "map" not in results.means(patterns_result())


def test_the_page_draws_everything_without_a_word(browser: Chrome, tmp_path: Path) -> None:
    page = write(patterns_result(TASKS), tmp_path).as_uri()
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(page)
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(DRAWN))
    assert len(browser.find_elements("css selector", "[data-chart] svg.marks")) == 8
    labels = browser.find_elements("css selector", "[data-chart=map-vertical] .mark-text.role-axis-label text")
    assert {"[CLS]", "if", "</script>", "[SEP]"} == {label.text for label in labels}
    assert browser.get_log("browser") == []

"""The lesson prints what the page says, line after line."""

import re
from pathlib import Path
from typing import Any

import pytest

import headscope
from headscope.viewer.session import ViewSession

PAGE = (Path(__file__).parents[1] / "docs" / "lesson.md").read_text(encoding="utf-8")
TEXTS = re.compile(r'--text "(.*)" --against "(.*)"')
STEPS = re.findall(r"```py\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_each_of_six_steps_prints_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    assert len(STEPS) == PAGE.count("\n## ") == 6
    for code, answer in STEPS:
        exec(compile(code, "lesson.md", "exec"), names)
        assert capsys.readouterr().out == answer


def test_heads_that_change_most_are_those_of_the_page() -> None:
    assert "Heads 1-3 and 3-1 are among the first three" in PAGE
    session = ViewSession((headscope.load("minilm"),))
    active, passive = TEXTS.search(PAGE).groups()  # type: ignore[union-attr]
    changes = session.text(active, None, passive)["changes"]
    most = [change[:2] for change in sorted(changes, key=lambda change: -change.change)[:3]]
    assert {(1, 3), (3, 1)} < set(most)

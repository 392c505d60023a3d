"""The lesson prints what the page says, line after line."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "lesson.md").read_text(encoding="utf-8")
STEPS = re.findall(r"```py\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_each_of_six_steps_prints_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    assert len(STEPS) == PAGE.count("\n## ") == 6
    for code, answer in STEPS:
        exec(compile(code, "lesson.md", "exec"), names)
        assert capsys.readouterr().out == answer

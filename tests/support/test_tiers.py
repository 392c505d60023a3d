"""The list of slow tests names tests that there are."""

import ast
from pathlib import Path

from headscope.catalog import parsed
from support.tiers import SLOW

ROOT = Path(__file__).parents[2]


def functions(path: Path) -> set[str]:
    """The names of all functions of a file."""
    return {node.name for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)}


def test_every_slow_test_is_there() -> None:
    listed = SLOW.read_text(encoding="utf-8").splitlines()
    named = {tuple(test.partition("[")[0].split("::")) for test in listed}
    assert len(listed) > 100 and listed == sorted(listed)
    assert [(path, name) for path, name in named if name not in functions(ROOT / path)] == []

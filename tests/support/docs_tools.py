"""The scripts of docs/tools, which are no package."""

import importlib.util
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).parents[2] / "docs" / "tools"


def tool(name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


declared = tool("declared")

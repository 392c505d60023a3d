"""Commands are made from the source of a study: from its signatures and docstrings."""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import Result

from headscope import catalog
from headscope.front.signatures import annotated, names, read
from headscope.ranges import Range
from headscope.studies import heads
from support.cli import run_command

DECLARED = '''"""Made up."""

from headscope.study import Study

STUDY = Study(source="", required=(), options={"limit": 1000})
'''
STUDY = '''"""Run the study."""


class Shape:
    """A shape.

    * `wide`: Number of columns; see `deep`.
    """

    wide: Annotated[int, Range(1, 5)] = 2


def run(corpora: tuple[Corpus, ...], settings: Settings = D, *, deep: Annotated[int, Range(1, 3)] = 1, shape: Shape):
    """Sort heads.

    Arguments:

    * `corpora`: Corpora.
    * `deep`: Number of
      levels.
    """
'''
COMMANDS = '''"""Further commands."""

from pathlib import Path

from headscope.passes.settings import Directory, ModelName, Settings


def sort(
    maps: Path, directory: Directory, settings: Settings, *, number: int = 3, quick: bool = True, all_: bool = False
):
    """Sort maps.

    Arguments:

    * `maps`: Folder of maps.
    * `number`: Number of maps.
    """
    return {"maps": str(maps), "number": number, "seed": settings.seed, "out": directory.name, "all": all_}


def show(checkpoint: ModelName) -> dict:
    """Show the name of a model."""
    return {"model": checkpoint, "nan": float("nan")}
'''


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """The commands of a study of one's own."""
    folder = tmp_path / "headscope" / "studies" / "heads" / "made"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(DECLARED, encoding="utf-8")
    (folder / "study.py").write_text(STUDY, encoding="utf-8")
    (folder / "commands.py").write_text(COMMANDS, encoding="utf-8")
    monkeypatch.setattr(catalog, "ROOT", tmp_path / "headscope")
    monkeypatch.setattr(heads, "__path__", [str(folder.parent)])
    return lambda *options: run_command("made", *options)


def test_further_command_prints_what_it_returns(invoke: Callable[..., Result], tmp_path: Path) -> None:
    out = ("-o", str(tmp_path / "out"))
    result = invoke("sort", "maps", "--number", "5", "--seed", "7", "--all", *out)
    assert result.stdout == "maps: maps\nnumber: 5\nseed: 7\nout: out\nall: True\n", result.output
    found = json.loads(invoke("sort", "maps", "--json", *out).stdout)
    assert found == {"schema": 1, "maps": "maps", "number": 3, "seed": 0, "out": "out", "all": False}
    assert json.loads(invoke("show", "no-such-model", "--json").stdout) == {
        "schema": 1, "model": "no-such-model", "nan": None,
    }  # fmt: skip


def test_a_command_has_the_options_of_its_function_alone(invoke: Callable[..., Result]) -> None:
    study, sort = invoke("--help").stdout, invoke("sort", "--help").stdout
    assert "[default: 1000]" in study and "Number of levels." in study and "1<=x<=3" in study
    assert "Further commands: made sort" in " ".join(study.split()) and "--number" not in study
    assert "Number of maps." in sort and "--deep" not in sort and "--no-quick" in sort
    assert "--out" not in invoke("show", "x", "--help").stdout
    assert "'x' is no number of examples" in invoke("--limit", "x").stderr
    assert invoke("--deep", "4").exit_code == invoke("--wide", "6").exit_code == 2
    assert "Number of columns; see --deep. [default: 2]" in " ".join(study.replace("│", "").split())


@pytest.mark.parametrize("study", catalog.names("studies"))
def test_every_argument_of_every_study_is_documented_and_plain(study: str) -> None:
    """The command line reads the same signature as Python does, and nothing of typer is in it."""
    function = read(study, "study", "run")
    run = function.load()
    parameters = inspect.signature(run).parameters
    assert "typer" not in str(inspect.signature(run))
    assert set(function.inputs) | set(function.options) == set(parameters)
    for name, option in function.options.items():
        assert option.default == parameters[name].default
        assert re.fullmatch(r"[A-Z].*\.", option.help, re.DOTALL)


@pytest.mark.parametrize("study", catalog.names("studies"))
def test_every_argument_of_further_commands_is_documented(study: str) -> None:
    for name in names(study, "commands"):
        function = read(study, "commands", name)
        assert all(option.help for option in function.options.values())


HEAVY = {"torch", "transformers", "datasets", "altair", "xarray", "pandas", "spacy"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["patterns", "--help"],
        ["patterns", "evaluate", "--help"],
        ["--help"],
        ["prune", "--no-such-option"],
        ["profile", "minilm", "no-such-file.txt", "-o", "{}"],
        ["profile", "no-such-model/", "sample", "-o", "{}"],
        ["syntax", "minilm", "sample", "-o", "{}", "--figures", "gif"],
    ],
)
def test_help_and_what_is_mistyped_import_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    arguments = [argument.format(tmp_path) for argument in arguments]
    script = f"""if True:
        import sys
        import headscope.front.cli.app as cli
        sys.argv = ['headscope', *{arguments!r}]
        try:
            cli.main()
        finally:
            print('imported', *sorted({HEAVY!r} & sys.modules.keys()))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == (0 if "--help" in arguments else 2)
    assert done.stdout.strip().endswith("imported"), done.stdout[-200:]


@pytest.mark.parametrize(
    ("text", "kind", "bounds"),
    [
        ("bool", bool, None),
        ("Path | None", Path | None, None),
        ("list[str] | None", list[str] | None, None),
        ("Literal['a', 'b']", Literal["a", "b"], None),
        ("Literal['a', 'b'] | None", Literal["a", "b"] | None, None),
        ("Annotated[float, Range(0, 1)]", float, Range(0, 1)),
        ("Annotated[int, Range(least=-1, most=5)] | None", int | None, Range(-1, 5)),
    ],
)
def test_type_and_range_of_an_annotation(text: str, kind: Any, bounds: Range | None) -> None:
    assert annotated(ast.parse(text, mode="eval").body) == (kind, bounds)


@pytest.mark.parametrize("text", ["Corpus", "list[exit(3)]", "Literal[exit(3)]", "Annotated[int, exit(3)]", "set[int]"])
def test_nothing_else_is_read_or_run(text: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        annotated(ast.parse(text, mode="eval").body)

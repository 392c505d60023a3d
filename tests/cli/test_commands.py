"""A command that does something else where an option asks for it."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest
from typer import Option
from typer.testing import CliRunner

from headscope import HeadscopeError, Settings, catalog
from headscope.cli.app import application
from headscope.cli.commands import asked_for, functions
from headscope.corpora import Corpus


def run(corpora: tuple[Corpus, ...], settings: Settings, *, deep: bool = False) -> None:
    raise AssertionError("the study itself is not asked for")


def sort(
    sort: Annotated[Path, Option(metavar="MAPS")], directory: Path, settings: Settings, *, number: int = 3
) -> dict:
    """Sort maps."""
    return {
        "maps": str(sort),
        "number": number,
        "seed": settings.seed,
        "there": directory.is_dir(),
        "nan": float("nan"),
    }


def show(show: Annotated[bool, Option("--show")], checkpoint: str, *, number: int = 3) -> dict:
    """Show the name of a model."""
    return {"model": checkpoint}


MODULE = SimpleNamespace(run=run, INSTEAD=(sort, show), OPTIONS={"limit": 1000})


@pytest.fixture
def invoke(monkeypatch, tmp_path):
    """The command of the study above."""
    monkeypatch.setattr(catalog, "names", lambda folder: ["made"])
    monkeypatch.setattr(catalog, "summary", lambda folder, name: "Made up.")
    monkeypatch.setattr(catalog, "load", lambda folder, name: MODULE)
    out = str(tmp_path / "out")
    return lambda *options: CliRunner().invoke(application(["made"]), ["made", "-o", out, *options])


def given(**changes):
    own = {name: each.default for function in functions(MODULE) for name, each in function.own.items()}
    return own | changes


def test_an_option_asks_for_a_function_and_none_for_run():
    known = functions(MODULE)
    assert [asked_for(known, given(**asked)).name for asked in ({}, {"sort": Path("x")}, {"show": True})] == [
        "run", "sort", "show",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"sort": Path("x"), "show": True}, "exclude each other"),
        ({"number": 4}, "--number goes with --sort"),
        ({"show": True, "deep": True}, "--deep does not go with --show"),
    ],
)
def test_what_does_not_go_together_is_said(asked, message):
    with pytest.raises(HeadscopeError, match=message):
        asked_for(functions(MODULE), given(**asked))


def test_what_the_function_finds_is_printed(invoke, tmp_path):
    result = invoke("--sort", "maps", "--number", "5", "--seed", "7")
    assert result.stdout == "maps: maps\nnumber: 5\nseed: 7\nthere: True\nnan: nan\n", result.output
    assert list((tmp_path / "out").iterdir()) == []
    found = json.loads(invoke("--sort", "maps", "--json").stdout)
    assert found == {"maps": "maps", "number": 3, "seed": 0, "there": True, "nan": None}


def test_inputs_that_the_function_does_not_have_are_not_made(invoke, tmp_path):
    assert invoke("no-such-model", "--show").stdout == "model: no-such-model\n"
    assert not (tmp_path / "out").exists()


def test_a_study_has_its_own_defaults_of_shared_options(invoke):
    help = invoke("--help").stdout
    assert "[default: 1000]" in help and "--sort" in help and "--show" in help
    assert "'x' is no number of examples" in invoke("--limit", "x").stderr

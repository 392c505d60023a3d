"""`--json`: the commands that have it are documented, and refusals leave standard output empty."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from headscope import catalog
from headscope.front.cli.app import application
from headscope.front.cli.printing import SCHEMA
from headscope.front.signatures import names
from support.cli import run_command
from support.tiny import save_tiny

PAGE = (Path(__file__).parents[3] / "docs" / "json.md").read_text(encoding="utf-8")
TOOLS = ("claims", "export", "head", "index", "join", "list", "report", "reproduce", "rerun", "survey", "view")


def lines() -> Iterator[tuple[str, ...]]:
    """The words of all commands."""
    for study in catalog.names("studies"):
        command = catalog.command_name(study)
        yield (command,)
        yield from ((command, verb) for verb in names(study, "commands"))
    yield from ((tool,) for tool in TOOLS)


def has_json(words: tuple[str, ...]) -> bool:
    command = typer.main.get_command(application(list(words)))
    for word in words:
        command = command.commands[word]  # type: ignore[attr-defined]
    return any(option.name == "json" for option in command.params)


COMMANDS = [words for words in lines() if has_json(words)]


def test_the_page_lists_the_commands_with_json() -> None:
    rows = re.findall(r"^\| `([a-z -]+)`", PAGE.partition("## Other commands")[2], re.MULTILINE)
    studies = {catalog.command_name(study) for study in catalog.names("studies")}
    assert {" ".join(words) for words in COMMANDS} - studies == set(rows)
    assert studies <= {words[0] for words in COMMANDS if len(words) == 1}
    assert f"`schema` is {SCHEMA}" in PAGE


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_is_refused_prints_nothing_on_standard_output(words: tuple[str, ...], tmp_path: Path) -> None:
    refused = run_command(*words, tmp_path / "missing", "--json")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr and "Traceback" not in refused.stderr


def test_the_findings_of_a_page_are_those_of_its_report(tmp_path: Path) -> None:
    texts = tmp_path / "x.txt"
    texts.write_text("It rained.\nWe stayed in, as they had.\n" * 6)
    study = [
        "profile",
        str(save_tiny(tmp_path / "model")),
        str(texts),
        "-o",
        str(tmp_path / "out"),
        "--no-figures",
        "--json",
    ]
    again = ["report", str(tmp_path / "out"), "--no-figures", "--json"]
    made, page = (json.loads(run_command(*words).stdout) for words in (study, again))
    assert made["findings"] == page["results"][0]["findings"]
    assert {None} < {finding["verdict"] for finding in made["findings"]}, "claims and descriptions"
    fields = {"topic", "text", "verdict", "value", "baseline", "difference", "interval", "n", "q"}
    assert all(finding.keys() == fields for finding in made["findings"])
    assert page["pages"] == [str(tmp_path / "out" / "report.html")]

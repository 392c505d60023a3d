"""Parameters of commands: shared options have the defaults of Python; former names are read with a line."""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.models import OptionInfo
from typer.testing import CliRunner, Result

from headscope import catalog
from headscope.front.cli.app import application
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.study import command_calling, verbs
from headscope.passes.settings import Settings
from support.planted_words import copying_model


def invoked(*words: str) -> tuple[Result, dict[str, Any]]:
    """What the command of `cloze` prints, and the values that it is called with."""
    given: dict[str, Any] = {}
    app = typer.Typer()
    app.command()(command_calling("cloze", lambda values, _: given.update(values)))
    return CliRunner().invoke(app, list(words)), given


def test_settings_have_the_defaults_of_their_options() -> None:
    settings = Settings()
    names = ("long", "batch_tokens", "seed", "workers", "resamples")
    assert {name: getattr(settings, name) for name in names} == {name: DEFAULTS[name] for name in names}


def test_a_former_name_is_read_with_a_line() -> None:
    result, given = invoked("minilm", "numeracy", "--each", "5")
    assert given["per_condition"] == 5 and "each" not in given
    assert result.stderr == "headscope: --each is now --per-condition\n"
    result, today = invoked("minilm", "numeracy", "--per-condition", "5")
    assert today == given and result.stderr == ""


def test_a_former_name_has_the_range_of_today_and_stands_in_no_help() -> None:
    assert invoked("minilm", "numeracy", "--each", "0")[0].exit_code == 2
    assert "--each" not in invoked("--help")[0].stdout


@pytest.mark.parametrize("order", [1, -1])
def test_both_names_are_refused(order: int) -> None:
    options = [("--each", "5"), ("--per-condition", "6")][::order]
    result, given = invoked("minilm", "numeracy", *options[0], *options[1])
    assert result.exit_code == 2 and not given
    assert "--each is the former name of --per-condition; give one of them" in result.stderr


def test_a_sample_of_a_suite_is_scored_by_the_command(tmp_path: Path) -> None:
    model = copying_model()
    model.network.save_pretrained(tmp_path / "model")
    model.tokenizer.save_pretrained(tmp_path / "model")
    words = ["cloze", str(tmp_path / "model"), "numeracy", "--each", "2", "-o", str(tmp_path / "out"), "--no-figures"]
    result = CliRunner().invoke(application(words), [*words, "--no-random", "--no-controls", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["attrs"]["n_examples"] == 14


def numbers(command: Callable[..., None]) -> Iterator[tuple[str, OptionInfo]]:
    """The options of a command that are numbers, but those that read their value themselves."""
    for name, parameter in inspect.signature(command).parameters.items():
        kind, *described = get_args(parameter.annotation) or (None,)
        if {int, float} & {kind, *get_args(kind)} and not described[0].parser:
            yield name, described[0]


def test_every_number_has_a_least_and_a_most_value() -> None:
    commands = {entry.callback for entry in application([]).registered_commands}
    commands |= {verb for study in catalog.names("studies") for verb in verbs(study).values()}
    options = [(name, option) for command in commands for name, option in numbers(command)]
    assert len(options) > 200
    assert [name for name, option in options if option.min is None or option.max is None] == []

"""Parameters of commands: shared options have the defaults of Python; a sample of a suite."""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from typer.models import OptionInfo
from typer.testing import CliRunner

from headscope import catalog
from headscope.front.cli.app import application
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.study import verbs
from headscope.passes.settings import Settings
from support.planted_words import copying_model


def test_settings_have_the_defaults_of_their_options() -> None:
    settings = Settings()
    names = ("long", "batch_tokens", "seed", "workers", "resamples")
    assert {name: getattr(settings, name) for name in names} == {name: DEFAULTS[name] for name in names}


@pytest.mark.parametrize("option", ["--per-condition", "--each"])
def test_a_sample_of_a_suite_is_scored_by_the_command(option: str, tmp_path: Path) -> None:
    model = copying_model()
    model.network.save_pretrained(tmp_path / "model")
    model.tokenizer.save_pretrained(tmp_path / "model")
    out = ["-o", str(tmp_path / "out"), "--no-figures"]
    words = ["cloze", str(tmp_path / "model"), "numeracy", option, "2", *out]
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
    commands = {entry.callback for entry in application([]).registered_commands if entry.callback}
    commands |= {verb for study in catalog.names("studies") for verb in verbs(study).values()}
    options = [(name, option) for command in commands for name, option in numbers(command)]
    assert len(options) > 200
    assert [name for name, option in options if option.min is None or option.max is None] == []

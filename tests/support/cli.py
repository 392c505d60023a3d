"""A command, run in this process."""

from typing import Any

from typer.testing import CliRunner, Result

from headscope.front.cli.app import application


def run_command(*words: object, **options: Any) -> Result:
    """Run a command: what it prints, and how it ends; `options`: of `CliRunner.invoke`."""
    given = [str(word) for word in words]
    return CliRunner().invoke(application(given), given, **options)

"""Wrong usage, such as a misspelled option, as one line."""

import sys
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperGroup

from headscope.errors import nearest, on_command_line
from headscope.front.cli.errors import USER_ERROR
from headscope.front.cli.printing import printable

WORDS = "headscope.words"
UsageError: Any = typer.BadParameter.__mro__[1]  # typer has no public name for it


class Commands(TyperGroup):
    """The commands; wrong usage is one line on stderr and status 2, where Typer draws a box of five."""

    def main(self, *args: Any, standalone_mode: bool = True, **kwargs: Any) -> Any:
        """Run a command, and end the process unless `standalone_mode` is off."""
        with on_command_line():
            return self._main(*args, standalone_mode=standalone_mode, **kwargs)

    def _main(self, *args: Any, standalone_mode: bool, **kwargs: Any) -> Any:
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **kwargs)
        try:
            sys.exit(super().main(*args, standalone_mode=False, **kwargs))
        except UsageError as error:
            if line := usage_line(error):
                typer.secho(f"headscope: {line}", err=True, fg=typer.colors.RED)
            sys.exit(USER_ERROR)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words of the command line, which are a part of a result's provenance."""
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first argument names."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'{_similar(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def usage_line(error: Any) -> str:
    """The error, the wrong value, a similar name if there is one, and where help is; empty for a bare `headscope`."""
    text, option = error.format_message().rstrip("."), getattr(error, "option_name", "")
    if "No such option" in text:
        options = [
            name for parameter in error.ctx.command.params for name in (*parameter.opts, *parameter.secondary_opts)
        ]
        text = f"no such option '{option}'{_similar(option, options)}"
    elif wrong := getattr(error.__cause__, "errors", None):  # of pydantic
        value, message = repr(wrong()[0]["input"]), wrong()[0]["msg"].rstrip(".")
        message = message.replace(f"Value error, {value} is not", "use").replace("Input should", "it should")
        text = f"option {error.param.opts[0]} {value}: {message}"
    see = f"see '{error.ctx.command_path} --help'" if error.ctx else "see --help"
    return printable(f"{text[0].lower()}{text[1:]}{' ' if text.endswith('?') else '; '}{see}") if text else ""


def _similar(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f": did you mean '{near}'?" if near else ""

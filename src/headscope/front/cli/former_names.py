"""Former names of options: they are still read, with a line that names the one of today, and no help shows them."""

from collections.abc import Mapping
from copy import copy
from inspect import Parameter
from typing import Annotated, Any, get_args

from headscope.errors import HeadscopeError
from headscope.front.cli.errors import notice
from headscope.front.cli.metavars import flag


def hidden(option: Parameter, name: str) -> Parameter:
    """An option under its former name."""
    kind, described = get_args(option.annotation)
    described = copy(described)
    described.hidden, described.default = True, flag(name)  # Typer reads the name of an annotated option there
    return option.replace(name=name, annotation=Annotated[kind, described])


def renamed(given: Mapping[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """The values of options, those of former names under the names of today.

    Raises `HeadscopeError` if an option is given under both.
    """
    values = {name: value for name, value in given.items() if name not in former}
    for old, new in former.items():
        if given[old] is None:
            continue
        if values[new] is not None:
            raise HeadscopeError(f"{flag(old)} is the former name of {flag(new)}; give one of them")
        notice(f"{flag(old)} is now {flag(new)}")
        values[new] = given[old]
    return values

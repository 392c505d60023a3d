"""What a command may run: a study's `run`, or one of its `INSTEAD`, functions that an option of their name asks for.

`INSTEAD = (train,)` with `def train(train: Annotated[Path, Option(...)], directory: Path) -> dict` is the option
`--train PATH` of the study's command, and what the function gives back is printed.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, get_type_hints

from headscope.cli.inputs import NEEDS
from headscope.errors import HeadscopeError


@dataclass(frozen=True)
class Function:
    """A function, the inputs that it asks for (and whether each may be left out), and its own options."""

    call: Callable[..., Any]
    inputs: Mapping[str, bool]
    own: Mapping[str, Parameter]

    @property
    def name(self) -> str:
        """The name of the option that asks for it, unless it is a `run`."""
        return self.call.__name__


def functions(module: Any) -> list[Function]:
    """What the command of a study may run, `run` first."""
    return [_function(module.run), *(_function(call, call.__name__) for call in getattr(module, "INSTEAD", ()))]


def _function(call: Callable[..., Any], asked_by: str = "") -> Function:
    hints = get_type_hints(call, include_extras=True)
    parameters = inspect.signature(call).parameters
    inputs = {name: parameter.default is None for name, parameter in parameters.items() if name in NEEDS}
    own = {name: each.replace(annotation=hints[name]) for name, each in parameters.items() if name not in NEEDS}
    if asked_by:
        absent = False if get_type_hints(call)[asked_by] is bool else None
        own[asked_by] = own[asked_by].replace(default=absent)
    return Function(call, inputs, own)


def asked_for(known: Sequence[Function], given: Mapping[str, Any]) -> Function:
    """The function that the options ask for.

    Raises `HeadscopeError` if they ask for two, or set an option of another one.
    """
    run, *others = known
    asked = [each for each in others if given[each.name]]
    if asked[1:]:
        raise HeadscopeError(f"--{asked[0].name} and --{asked[1].name} exclude each other; give one of them")
    chosen = asked[0] if asked else run
    for name, other in _others(chosen, known):
        if given[name] != other.own[name].default:
            option = f"option --{name.replace('_', '-')}"
            if chosen is run:
                raise HeadscopeError(f"{option} goes with --{other.name}; add that, or leave it out")
            raise HeadscopeError(f"{option} does not go with --{chosen.name}; leave it out")
    return chosen


def _others(chosen: Function, known: Sequence[Function]) -> Iterator[tuple[str, Function]]:
    """The options that the chosen function does not have, and whose they are."""
    for function in known:
        yield from ((name, function) for name in function.own if name not in chosen.own)

"""Arguments of the public functions: a wrong one is answered by the function's name and by all that it takes."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from typing import Any

from headscope.errors import suggest


@cache
def answering(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The public function of a name, which names itself and its arguments where one is unknown or missing.

    >>> answering("half", lambda number, digits=0: round(number / 2, digits))(3, digts=1)
    Traceback (most recent call last):
    TypeError: headscope.half: got an unexpected keyword argument 'digts'; did you mean 'digits'? there are: ...
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound(name, signature, args, kwargs, signature.parameters)
        return function(*args, **kwargs)

    return call


def bound(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Iterable[str]
) -> inspect.BoundArguments:
    """The arguments of a call of a public function; `names`: the names of all that it takes.

    Raises `TypeError` for one that is unknown or missing, with the function's name and its arguments.
    """
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        refuse_unknown(name, kwargs, names)
        raise TypeError(f"headscope.{name}: {error}; {suggest('', names)}") from None


def refuse_unknown(name: str, kwargs: Iterable[str], names: Iterable[str]) -> None:
    """Raise `TypeError` for the first keyword of a call of a public function that is not among `names`."""
    names = list(names)
    if unknown := next((key for key in kwargs if key not in names), ""):
        raise TypeError(f"headscope.{name}: got an unexpected keyword argument '{unknown}'; {suggest(unknown, names)}")

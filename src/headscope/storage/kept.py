"""What is made once while a context lasts: the models and corpora of several studies, the processes of their pages."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

Made = TypeVar("Made")


@dataclass(frozen=True)
class _Kept:
    made: dict[Hashable, object] = field(default_factory=dict)
    entered: ExitStack = field(default_factory=ExitStack)


_kept: ContextVar[_Kept | None] = ContextVar("kept inputs", default=None)


@contextmanager
def inputs_kept() -> Iterator[None]:
    """Within this context a model is loaded once, and a corpus read once, as long as its files do not change."""
    inputs = _Kept()
    token = _kept.set(inputs)
    try:
        with inputs.entered:
            yield
    finally:
        _kept.reset(token)


def kept(key: Hashable, make: Callable[[], Made], is_current: Callable[[Made], bool] = lambda made: True) -> Made:
    """What was made for a key within `inputs_kept`, if it `is_current`; else made now.

    >>> with inputs_kept():
    ...     kept("model", list) is kept("model", list), kept("model", list) is kept("corpus", list)
    (True, False)
    >>> kept("model", list) is kept("model", list)
    False
    """
    inputs = _kept.get()
    if inputs is None:
        return make()
    if key not in inputs.made or not is_current(inputs.made[key]):  # type: ignore[arg-type]
        inputs.made[key] = make()
    return inputs.made[key]  # type: ignore[return-value]


def entered(key: Hashable, make: Callable[[], AbstractContextManager[Made]]) -> AbstractContextManager[Made]:
    """A context that lasts as long as `inputs_kept`; without that, one of its own."""
    inputs = _kept.get()
    return nullcontext(kept(key, lambda: inputs.entered.enter_context(make()))) if inputs else make()

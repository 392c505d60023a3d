"""What is made once while a context lasts: the models and corpora that several studies read."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Made = TypeVar("Made")
_kept: ContextVar[dict[Hashable, object] | None] = ContextVar("kept inputs", default=None)


@contextmanager
def inputs_kept() -> Iterator[None]:
    """Within this context a model is loaded once, and a corpus read once, as long as its files do not change."""
    token = _kept.set({})
    try:
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
    if key not in inputs or not is_current(inputs[key]):  # type: ignore[arg-type]
        inputs[key] = make()
    return inputs[key]  # type: ignore[return-value]

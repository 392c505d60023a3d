"""Models, corpora and processes that several studies of a survey share: each is made once, and kept to its end.

Models of random weights are not: their memory is given back.
"""

import ctypes
import gc
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

Value = TypeVar("Value")
_inputs: ContextVar[dict[Hashable, Any] | None] = ContextVar("inputs of several studies", default=None)


@contextmanager
def inputs_kept() -> Iterator[None]:
    """Within this context a model is loaded once, and a corpus read once, as long as its files do not change."""
    token = _inputs.set({})
    try:
        with kept(ExitStack, ExitStack):
            yield
    finally:
        _inputs.reset(token)


def are_kept() -> bool:
    """Whether it is within `inputs_kept`."""
    return _inputs.get() is not None


def kept(key: Hashable, make: Callable[[], Value], is_current: Callable[[Value], bool] = lambda value: True) -> Value:
    """The value for a key: kept within `inputs_kept` if it `is_current`, else made now.

    >>> with inputs_kept():
    ...     kept("model", list) is kept("model", list), kept("model", list) is kept("corpus", list)
    (True, False)
    >>> kept("model", list) is kept("model", list)
    False
    """
    if (inputs := _inputs.get()) is None:
        return make()
    if key not in inputs or not is_current(inputs[key]):
        inputs[key] = make()
    return inputs[key]


def entered(key: Hashable, make: Callable[[], AbstractContextManager[Value]]) -> AbstractContextManager[Value]:
    """A context that lasts as long as `inputs_kept`; without that, one of its own."""
    if _inputs.get() is None:
        return make()
    return nullcontext(kept(key, lambda: kept(ExitStack, ExitStack).enter_context(make())))


def return_freed_memory() -> None:
    """Give freed memory back to the operating system (glibc; about a millisecond).

    Otherwise it grows with the corpus: batches have arrays of many sizes, and the gaps between them fit no later ones.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # of another C library
            ctypes.CDLL(None).malloc_trim(0)


def free_models() -> None:
    """Free models that have no name any more: networks lie in circles of references."""
    gc.collect()
    return_freed_memory()

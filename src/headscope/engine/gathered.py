"""A pass over a corpus in which a reader keeps something of each batch, for studies that say more than a mean."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from headscope.encoding.encoded import Encoded
from headscope.engine.fold import Interrupted, Reader, show
from headscope.engine.settings import Settings
from headscope.models import Model

Found = TypeVar("Found", covariant=True)


class Gatherer(Reader, Protocol[Found]):
    """A reader that is asked after each batch what it has found."""

    def finish(self) -> Found:
        """What was found in the batch."""
        ...


def gathered(
    model: Model,
    inputs: Iterable[Encoded],
    reader: Gatherer[Any],
    settings: Settings,
    done: Callable[[list[Encoded]], None],
) -> list[Any]:
    """What the reader finds in each batch, in the order in which they are read, which is not that of the corpus.

    Raises `Interrupted` with what was found in those that were done, where Ctrl-C ends the pass.
    """
    found: list[Any] = []

    def finish(group: list[Encoded]) -> None:
        found.append(reader.finish())
        done(group)

    try:
        show(model, inputs, reader, settings, finish)
    except KeyboardInterrupt:
        raise Interrupted(found) from None
    return found

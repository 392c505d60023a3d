"""Measures of the catalog, of installed packages, and of a user's own."""

from collections.abc import Iterable
from typing import Any, Protocol

from torch import Tensor

from headscope import catalog
from headscope.encoding.batch import Batch, Rows, Values
from headscope.errors import HeadscopeError, suggest
from headscope.results.variables import Variable

PARTS = ("VARIABLE", "observe", "finish")


class Measure(Protocol):
    """A measure of attention: a module such as those of `headscope.measures`, or an object of a class of one's own."""

    VARIABLE: Variable

    def observe(self, rows: Rows, /) -> Tensor:
        """Sums over a block of attention rows: [example, head, ...]; those of later queries are added to them."""
        ...

    def finish(self, observed: Any, batch: Batch, /) -> Values:
        """The value of each example of a batch, and which examples have one."""
        ...


def measure_named(name: str) -> Measure:
    """A measure of the catalog or of an installed package.

    Raises `HeadscopeError` for a name that is neither, and for an entry point that is no measure.

    >>> measure_named("entropy").VARIABLE.units
    'nats'
    """
    if name in (*catalog.names("measures"), "_template"):
        return checked(catalog.load("measures", name))
    installed = catalog.installed_measures()
    for entry in installed.select(name=name):
        try:
            measure = entry.load()
            return checked(measure() if isinstance(measure, type) else measure)
        except Exception as error:  # whatever the package of another does
            raise HeadscopeError(f"measure '{name}' ({entry.value}) cannot be loaded: {error}") from error
    names = [*catalog.names("measures"), *sorted(installed.names)]
    raise HeadscopeError(f"measure '{name}' is unknown; {suggest(name, names)}")


def checked(measure: Any) -> Measure:
    """The measure. Raises `HeadscopeError` if it lacks a part."""
    if missing := [part for part in PARTS if not hasattr(measure, part)]:
        raise HeadscopeError(f"measure {measure!r} has no {', '.join(missing)}; a measure has {', '.join(PARTS)}")
    if not isinstance(measure.VARIABLE, Variable):
        raise HeadscopeError(f"measure {measure!r}: VARIABLE is no headscope.Variable")
    return measure


def together(names: Iterable[str], further: Iterable[Measure]) -> dict[str, Measure]:
    """Measures of the catalog and further ones by the names of their variables.

    Raises `HeadscopeError` for two of one name.
    """
    measures = {name: measure_named(name) for name in names}
    for measure in further:
        if (name := measure.VARIABLE.name) in measures:
            raise HeadscopeError(f"measure '{name}' is there already; give its VARIABLE another name")
        measures[name] = measure
    return measures

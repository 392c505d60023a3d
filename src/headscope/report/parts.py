"""The parts of a report: findings and figures."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """Sentences about one topic, made from the numbers of a result.

    >>> Finding("Neighbours", "No head puts more than half of its attention on the next token.").topic
    'Neighbours'
    """

    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its place in the report.

    * `name`: the stem of its files.
    * `section`: the heading it stands under.
    * `chart`: an Altair chart.
    * `caption`: what it shows and where it comes from.
    * `variable`: the variable whose table is its alternative.
    """

    name: str
    section: str
    chart: Any
    caption: str
    variable: str


@dataclass(frozen=True, slots=True)
class HeadKind:
    """A kind that a head has by measured numbers.

    * `kind`: a key of `kinds.COLOURS`; `word`: its label under the map of the head ("det", "previous").
    """

    layer: int
    head: int
    kind: str
    word: str

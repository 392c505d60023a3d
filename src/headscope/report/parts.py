"""The parts of a report: findings and figures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xarray as xr

if TYPE_CHECKING:
    from headscope.report.tables import Table


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
    * `variable`: the variable whose table is its alternative; `table`: an alternative of its own.
    """

    name: str
    section: str
    chart: Any
    caption: str
    variable: str
    table: "Table | None" = None


@dataclass(frozen=True, slots=True)
class HeadKind:
    """A kind that a head has by measured numbers.

    * `kind`: a key of `kinds.COLOURS`; `word`: its label under the map of the head ("det", "previous").
    """

    layer: int
    head: int
    kind: str
    word: str


@dataclass(frozen=True, slots=True)
class LayerNumber:
    """A number of every layer, for the page that shows what each layer knows.

    * `topic`: the heading under which it stands; `words`: its name there.
    * `array`: [layer], with the coordinates `lower` and `upper` of its interval; layer 0 are the embeddings.
    * `chosen`: the layer that other data than those of the number have chosen, if any have.
    * `is_share`: whether it is written in per cent.
    """

    topic: str
    words: str
    array: xr.DataArray
    chosen: int | None = None
    is_share: bool = True

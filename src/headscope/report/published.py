"""Published figures beside the same numbers of a result: one table, the last of a study's page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import LEVELS, Cell, layer_means, layers_named, measured, number, peak_layer, several

NAME = "published"
HALF, NO_OP = 0.5, 0.9
PAPER = "Clark et al. 2019, section 3"
PLOT = "Clark et al. 2019, from the plots of the released notebook"
NEIGHBOURS = {
    -1: ("the previous token", "4 heads, in layers 2, 4, 7, 8"),
    1: ("the next token", "5 heads, in layers 1, 2, 2, 3, 6"),
}
CAPTION = (
    "BERT-base (uncased, 12 layers) on pairs of paragraphs of Wikipedia of 128 tokens, compared with this model on "
    "this corpus. Shares depend on the texts and on their length: compare with care."
)


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published number, and the same number of a result.

    * `words`: what the number is, one text for each key column of the table.
    * `here`: the number of the result and its interval; `paper`: the published one, as it is written.
    * `source`: where it is published; `level`: how that was checked, a key of `LEVELS`.
    """

    words: tuple[str, ...]
    here: Cell
    paper: str
    source: str
    level: str

    @property
    def cells(self) -> Cells:
        """The number here, the published one, and its source with how sure it is."""
        return [self.here, (self.paper, ""), (f"{self.source} ({LEVELS[self.level]})", "")]


def published_table(
    figures: Iterable[PublishedFigure], caption: str, *, keys: tuple[str, ...] = ("Number",), model: str = "BERT-base"
) -> list[Table]:
    """The figures as a table, beside a published model; none without a figure.

    >>> figure = PublishedFigure(("heads that matter alone",), ("3 of 72", ""), "8 of 96", "Michel et al. 2019", "P")
    >>> published_table([figure], "Beside the papers.")[0].rows
    [(('heads that matter alone',), [('3 of 72', ''), ('8 of 96', ''), ('Michel et al. 2019 (read in the paper)', '')])]
    >>> published_table([], "Beside the papers.")
    []
    """
    rows = [(figure.words, figure.cells) for figure in figures]
    columns = (Column("here", "This model"), Column("paper", model), Column("source", "Source"))
    return [Table(NAME, caption, keys, columns, rows)] if rows else []


def attention_figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """Heads that look at a neighbour, layers that look at separators, and the breadth of [CLS] in the last layer."""
    for offset, (words, paper) in NEIGHBOURS.items():
        if (found := measured(result, "attention_offset", offset=offset)) is not None:
            text = f"heads with more than half of their attention to {words}"
            yield PublishedFigure((text,), heads_above(found, HALF), paper, PAPER, "P")
    yield from separator_figures(result)
    if (found := measured(result, "cls_entropy")) is not None:
        last = [*layer_means(found).values()][-1]
        text = "entropy of the start token in the last layer, nats"
        yield PublishedFigure((text,), (number(last), ""), "3.89", PAPER, "P")


def separator_figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """The layers with more than half of their attention to separators, that with most, and heads that stay there."""
    if (number := measured(result, "attention_to", token_class="sep")) is not None:
        layers = [layer for layer, mean in layer_means(number).items() if mean > HALF]
        text = "layers with more than half of their attention to separators"
        yield PublishedFigure((text,), (layers_named(layers) if layers else "none", ""), "layers 6 to 10", PAPER, "P")
        text = "largest mean attention of a layer to separators"
        yield PublishedFigure((text,), most_of_layers(number), "0.575 (layer 9)", PLOT, "~")
    if (number := measured(result, "sep_to_sep")) is not None:
        text = "heads with more than 0.9 of the attention of separators to separators"
        yield PublishedFigure((text,), heads_above(number, NO_OP), "some heads", PAPER, "P")


def most_of_layers(shares: xr.DataArray) -> Cell:
    """The largest mean of a layer over its heads, and its number; shares [layer, head]."""
    layer = peak_layer(shares)
    return f"{number(layer_means(shares)[layer])} (layer {layer})", ""


def heads_above(shares: xr.DataArray, limit: float) -> Cell:
    """The number of heads above a limit, and their layers; shares [layer, head].

    >>> heads_above(xr.DataArray([[0.2, 0.6], [0.7, 0.9]], {"layer": [1, 2], "head": [1, 2]}, ("layer", "head")), 0.5)
    ('3 heads, in layers 1, 2, 2', '')
    """
    indices, _ = np.nonzero(shares.transpose("layer", "head").values > limit)
    layers = list(map(str, shares["layer"].values[indices]))
    where = f", in layer{'s' if len(layers) > 1 else ''} {', '.join(layers)}" if layers else ""
    return several(len(layers), "head").lower() + where, ""

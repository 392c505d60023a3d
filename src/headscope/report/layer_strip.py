"""The strip of layers: what the heads of each layer do, and some numbers of each layer, one column a layer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from headscope.report.cards.model_results import MeasuredModel
from headscope.report.kinds import COLOURS, MIXED, head_kinds, kind_words
from headscope.report.parts import LayerNumber
from headscope.report.wording import number

# Rows of numbers for which a layer was chosen, of those that say what is needed, of all, and of a topic.
CHOSEN_ROWS, NEEDED_ROWS, ROWS, OF_TOPIC = 4, 2, 5, 2
Index = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KindShare:
    """The heads of a layer of one kind: the name of the kind, its colour, and their number."""

    name: str
    colour: str
    count: int


@dataclass(frozen=True, slots=True)
class StripCell:
    """A number in a layer, short and in the words of `layers.html`; "" where there is none.

    * `shade`: from 0 for the smallest of the row to 1 for its greatest; `chosen`: whether other data chose the layer.
    """

    text: str = ""
    words: str = ""
    shade: float = 0.0
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class StripRow:
    """One number of every layer."""

    topic: str
    words: str
    cells: tuple[StripCell, ...]


@dataclass(frozen=True, slots=True)
class LayerStrip:
    """The strip: layers as columns, what the heads of each do, and how many numbers have no row here (`more`)."""

    layers: tuple[int, ...]
    kinds: tuple[tuple[KindShare, ...], ...]
    rows: tuple[StripRow, ...]
    more: int

    @property
    def longest(self) -> int:
        """The number of characters of the longest number, 3 at least."""
        return max((len(cell.text) for row in self.rows for cell in row.cells), default=0) or 3

    @property
    def has_choices(self) -> bool:
        """Whether a layer of a row was chosen."""
        return any(cell.chosen for row in self.rows for cell in row.cells)


def layer_strip(model: MeasuredModel) -> LayerStrip | None:
    """The strip of a model; None without a number of a layer and without heads."""
    numbers = shown(model.layers)
    layers = sorted({layer for layer, _ in model.heads} | {layer for row in numbers for layer in row.layers})
    if not layers:
        return None
    kinds = kinds_by_layer(model)
    shares = tuple(kinds.get(layer, ()) for layer in layers) if kinds else ()
    rows = tuple(StripRow(row.topic, row.words, tuple(_cells(row, layers))) for row in numbers)
    return LayerStrip(tuple(layers), shares, rows, len(model.layers) - len(rows))


def shown(numbers: Sequence[LayerNumber]) -> list[LayerNumber]:
    """The numbers that have a row: those with a chosen layer, of what is needed, others; two of a topic at most."""
    chosen = _in_turn(row for row in numbers if row.chosen is not None)[:CHOSEN_ROWS]
    needed = _in_turn(row for row in numbers if row.is_needed)[:NEEDED_ROWS]
    others = _in_turn(row for row in numbers if row.chosen is None and not row.is_needed)
    rest = max(0, ROWS - len(chosen) - len(needed))
    return [*chosen, *needed, *others[:rest]]


def kinds_by_layer(model: MeasuredModel) -> dict[int, tuple[KindShare, ...]]:
    """The heads of each layer by their most specific kind, in the order of the kinds; none if no head has a kind."""
    kinds: dict[Index, str] = {
        head: most[0].kind for head, most in head_kinds(source.result for source in model.sources).items()
    }
    counts: dict[int, Counter[str]] = {layer: Counter() for layer, _ in model.heads}
    for layer, head in model.heads:
        counts[layer][kinds.get((layer, head), MIXED)] += 1
    names, _ = kind_words(model.sources[0].result.attrs if model.sources else {})
    return {
        layer: tuple(KindShare(names[kind], COLOURS[kind], count[kind]) for kind in COLOURS if count[kind])
        for layer, count in counts.items()
        if kinds
    }


def _in_turn(numbers: Iterable[LayerNumber]) -> list[LayerNumber]:
    """The first number of each topic, then the second of each, and so on up to `OF_TOPIC`."""
    by_topic: dict[str, list[LayerNumber]] = {}
    for row in numbers:
        by_topic.setdefault(row.topic, []).append(row)
    return [
        row
        for row in chain.from_iterable(zip_longest(*(rows[:OF_TOPIC] for rows in by_topic.values())))
        if row is not None
    ]


def _cells(row: LayerNumber, layers: Sequence[int]) -> Iterator[StripCell]:
    values = {layer: value for layer in layers if np.isfinite(value := row.at(layer).value)}
    least, width = (min(values.values()), max(values.values()) - min(values.values())) if values else (0.0, 0.0)
    for layer in layers:
        if layer in values:
            shade = (values[layer] - least) / width if width else 0.0
            short = f"{values[layer]:.0%}" if row.is_share else number(values[layer])
            yield StripCell(short, row.words_at(layer), shade, layer == row.chosen)
        else:
            yield StripCell()

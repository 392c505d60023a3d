"""The heads of a model as a grid of layers by heads, each with a few words."""

from dataclasses import dataclass
from itertools import product

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.study_page import study_page

# Badges in the order in which they describe a head best; the others come after these.
FIRST = ("Special for", "Links", "Antecedents", "Pattern", "Attends to")
LONGEST = 18


@dataclass(frozen=True, slots=True)
class GridCell:
    """A head with a few words, and all its words."""

    name: str
    words: str
    title: str


def grid(model: MeasuredModel) -> list[tuple[int, list[GridCell | None]]]:
    """A row for each layer; None where the model has no such head."""
    badges = _badges(model)
    layers = sorted({layer for layer, _ in model.heads})
    heads = sorted({head for _, head in model.heads})
    there = set(model.heads)
    return [
        (layer, [_cell((layer, head), badges) if (layer, head) in there else None for head in heads])
        for layer in layers
    ]


def _cell(place: tuple[int, int], badges: list[tuple[str, dict[tuple[int, int], str]]]) -> GridCell:
    words = [(title, by_head[place]) for title, by_head in badges if by_head.get(place)]
    first = words[0][1] if words else ""
    short = first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"
    return GridCell(head_name(*place), short, "; ".join(f"{title.lower()} {text}" for title, text in words))


def _badges(model: MeasuredModel) -> list[tuple[str, dict[tuple[int, int], str]]]:
    """The badges of all results, the most telling first, each by head."""
    cards = [(source.result, study_page(source.result).card()) for source in model.sources]
    every = [(title, _by_head(array)) for result, card in cards for title, array in card.badges(result).items()]
    order = {title: place for place, title in enumerate(FIRST)}
    badges = [badge for badge in every if badge[0] != "Cluster"]
    return sorted(badges, key=lambda badge: order.get(badge[0], len(order)))


def _by_head(array: xr.DataArray) -> dict[tuple[int, int], str]:
    places = product(array["layer"].values.tolist(), array["head"].values.tolist())
    words = map(str, array.transpose("layer", "head").values.ravel().tolist())  # [layer * head]
    return dict(zip(places, words, strict=True))

"""Cards as offline pages, and the index of all heads as one."""

import re
from collections.abc import Sequence
from pathlib import Path

from headscope.extras import missing
from headscope.figures.export import FORMATS, save_spec
from headscope.files import write_atomically
from headscope.report.cards.card import Card
from headscope.report.cards.grid import grid
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.cards.tables import index, of_card
from headscope.report.parts import Figure
from headscope.report.render import fragment, rendered
from headscope.report.tables import Table

# Beyond so many heads the page of all of them has no maps: it would be too large to open.
MOST_DRAWN = 200


def write_card(card: Card, directory: str | Path, *, alone: bool = True) -> Path:
    """Write `directory/head-4-7.html` and its figures; return the path of the page.

    Where the card is not `alone`, as there are others of other models, its name ends with the model's.
    Raises `HeadscopeError` if the folder cannot be written to.
    """
    directory = Path(directory)
    stem = f"head-{card.name}" + ("" if alone else f"-{_safe(card.model)}")
    figures = _figures(card, stem)
    specs = {figure.name: figure.chart.to_dict(validate=False) for figure in figures}
    for name, spec in specs.items():
        save_spec(spec, directory / "figures" / name)
    page = rendered(
        "card.html", specs, card=card, model=card.model, formats=FORMATS, figures=figures, tables=_tables(card)
    )
    return write_atomically(directory / f"{stem}.html", page)


def write_heads(models: Sequence[MeasuredModel], directory: str | Path) -> Path:
    """Write `directory/heads.html`, the index of all heads with the card of each; return its path.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    contents, specs = [], {}
    for place, model in enumerate(models):
        cards = []
        for layer, head in model.heads:
            card = Card(model, layer, head)
            figures = _figures(card, f"m{place}-{card.name}", maps_only=True) if len(model.heads) <= MOST_DRAWN else []
            specs |= {figure.name: figure.chart.to_dict(validate=False) for figure in figures}
            cards.append({"card": card, "figures": figures, "tables": _tables(card)})
        contents.append({"model": model, "index": index(model, f"m{place}"), "cards": cards, "grid": grid(model)})
    page = rendered("heads.html", specs, models=contents, most=MOST_DRAWN)
    return write_atomically(Path(directory) / "heads.html", page)


def head_cards(model: MeasuredModel) -> list[dict[str, object]]:
    """The card of each head with its tables, without charts; none for a model of too many heads."""
    if len(model.heads) > MOST_DRAWN:
        return []
    cards = [Card(model, layer, head) for layer, head in model.heads]
    return [{"card": card, "tables": _tables(card)} for card in cards]


def card_fragment(card: Card) -> str:
    """The findings and tables of a card as a piece of HTML, without charts."""
    return fragment("card_fragment.html", card=card, tables=_tables(card))


def _figures(card: Card, stem: str, *, maps_only: bool = False) -> list[Figure]:
    """The charts of a card, each with a name of its own; none without vl-convert."""
    if missing("vl_convert"):
        return []
    charts = [figure for part in card.parts for figure in part.maps]
    if not maps_only:
        standing = [card.standing] if card.standing else []
        charts = [*standing, *charts, *(figure for part in card.parts for figure in part.figures)]
    names = [f"{stem}-{figure.name}" for figure in charts]
    unique = [name if names.index(name) == at else f"{name}-{at}" for at, name in enumerate(names)]
    return [
        Figure(name, figure.section, figure.chart, figure.caption, "")
        for name, figure in zip(unique, charts, strict=True)
    ]


def _tables(card: Card) -> list[Table]:
    """The numbers of each result."""
    tables = []
    for part in card.parts:
        left = len(part.rows) - len(part.picked)
        caption = f"{part.source.name}{f': {len(part.picked)} of {len(part.rows)} numbers' if left else ''}"
        if part.rows:
            tables.append(of_card(part.picked, "card", caption))
    return tables


def _safe(model: MeasuredModel) -> str:
    name = re.sub(r"[^\w-]+", "-", Path(model.name).name)
    return f"{name}-{model.sha256[:8]}" if model.sha256 else name

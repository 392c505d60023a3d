"""Cards as offline pages, and the index of all heads as one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headscope.catalog import missing
from headscope.figures.export import DEFAULT_FORMATS, save_spec
from headscope.figures.labels import special_tokens
from headscope.report.atlas import HeadIndex, atlas_of_heads
from headscope.report.cards.card import Card
from headscope.report.cards.main_numbers import head_values
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.cards.tables import index
from headscope.report.kinds import COLOURS
from headscope.report.layer_numbers import highlights
from headscope.report.page import Page
from headscope.report.parts import Figure
from headscope.report.render import fragment

# Beyond this many heads the page of all of them has no maps: it would be too large to open.
MOST_DRAWN = 200


def write_card(card: Card, directory: str | Path, *, alone: bool = True) -> Path:
    """Write `directory/head-4-7.html` and its figures, unless `alone` with the model's name; return its path."""
    directory = Path(directory)
    stem = f"head-{card.name}" + ("" if alone else f"-{_safe(card.model)}")
    figures = _figures(card, stem)
    contents = {"card": card, "model": card.model, "figures": figures}
    page = Page(directory / f"{stem}.html", "card.html", contents | {"formats": DEFAULT_FORMATS})
    page.draw(figures, save_spec)
    return page.write()


def write_heads(models: Sequence[MeasuredModel], directory: str | Path, *, made_of: str = "") -> Path:
    """Write `directory/heads.html`, the atlas and index of all heads with the card of each; return its path.

    Where results have numbers of every layer, it names the best layers and links `layers.html`; see `write_layers`.
    """
    contents: list[dict[str, Any]] = []
    page = Page(Path(directory) / "heads.html", "heads.html", {"models": contents})
    page.contents |= {"most": MOST_DRAWN, "colours": COLOURS, "made_of": made_of}
    for number, model in enumerate(models):
        figures = _all_maps(model, f"m{number}") if len(model.heads) <= MOST_DRAWN else {}
        page.draw([figure for maps in figures.values() for figure in maps])
        with special_tokens(model.sources[0].result.attrs):
            contents.append(
                {
                    "model": model,
                    "prefix": f"m{number}",
                    "index": index(model),
                    "cards": [Card(model, *head).read() for head in model.heads],
                    "figures": figures,
                    "atlas": atlas_of_heads([source.result for source in model.sources], model.heads),
                    "numbers": head_values(model.main_numbers),
                    "layers": list(highlights(model.layers)),
                }
            )
    return page.write()


def _all_maps(model: MeasuredModel, stem: str) -> dict[HeadIndex, list[Figure]]:
    """The most telling examples of each head."""
    cards = [Card(model, *head) for head in model.heads]
    return {(card.layer, card.head): _figures(card, f"{stem}-{card.name}", maps_only=True) for card in cards}


def card_fragment(card: Card) -> str:
    """The findings and tables of a card as a piece of HTML, without charts."""
    return fragment("card_fragment.html", card=card)


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


def _safe(model: MeasuredModel) -> str:
    name = re.sub(r"[^\w-]+", "-", Path(model.name).name)
    return f"{name}-{model.sha256[:8]}" if model.sha256 else name

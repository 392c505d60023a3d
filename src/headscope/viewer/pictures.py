"""A view as a chart for a paper: lines between tokens, heat maps, the grid of all heads, or lines of text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import shorten
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headscope.errors import HeadscopeError
from headscope.figures.attention_image import AtlasCell, atlas, attention_images, map_image
from headscope.figures.theme import CATEGORIES, INK, finished
from headscope.figures.tidy import inline
from headscope.report.kinds import COLOURS
from headscope.results.variables import places
from headscope.viewer.kept_texts import KeptText
from headscope.viewer.listings import LISTINGS
from headscope.viewer.session import ViewSession
from headscope.viewer.text_maps import MOST_WORDS, TextMaps
from headscope.viewer.text_tokens import TextTokens, word_pairs
from headscope.viewer.view_state import ViewState

ROW, WIDTH = 18, 260
FAINTEST = 0.02  # attention that is not drawn
FEW, STRONGEST = 64, (16, 6)  # tokens of a short text; lines of a token in a short and in a long text
MOST_LINES, MOST_CELLS = 512, 2048
MOST_CHARACTERS = 60  # of the text in a title


def attention_lines(
    maps: Mapping[str, Float[np.ndarray, "query key"]], queries: Sequence[str], keys: Sequence[str], title: str
) -> alt.LayerChart:
    """Lines from each token (left) to the tokens that it attends to most (right); a strong line is much attention.

    >>> chart = attention_lines({"8-10": np.array([[0.9, 0.1]])}, ["it"], ["the", "cat"], "Lines")
    >>> [layer.mark.type for layer in chart.layer]
    ['rule', 'text', 'text']
    """
    lines = [line for name, weights in maps.items() for line in _lines(name, weights)]
    height = ROW * max(len(queries), len(keys))
    y = alt.Y("query:Q", axis=None, scale=alt.Scale(domain=[0, height / ROW], range=[0, height]))
    colours = alt.Scale(domain=list(maps), range=list(CATEGORIES))
    legend = alt.Legend(title="Head", orient="top", symbolType="stroke") if len(maps) > 1 else None
    strength = partial(alt.Scale, domain=[0, 1])
    rules = (
        alt.Chart(inline(lines))
        .mark_rule(aria=False, strokeCap="round")
        .encode(
            x=_x("from:Q"),
            x2=alt.X2("to:Q"),
            y=y,
            y2=alt.Y2("key:Q"),
            color=alt.Color("head:N", scale=colours, legend=legend),
            strokeWidth=alt.StrokeWidth("strength:Q", scale=strength(range=[0.5, 3]), legend=None),
            # not the opacity of the mark: each line would be a layer of its own, and a PNG takes half a minute
            strokeOpacity=alt.StrokeOpacity("strength:Q", scale=strength(range=[0.1, 1]), legend=None),
            tooltip=["head:N", alt.Tooltip("value:Q", title="attention", format=".4f")],
        )
    )
    chart = alt.layer(rules, _names(queries, y, left=True), _names(keys, y, left=False))
    words = f"{title}: lines of {', '.join(maps)} between the tokens {' '.join(queries)}"
    return finished(chart.properties(width=WIDTH, height=height), title, words)


def _lines(name: str, weights: Float[np.ndarray, "query key"]) -> list[dict[str, Any]]:
    """The strongest lines of each query; the strength of a line is relative to the largest attention of the head."""
    most, number = float(weights.max()) or 1.0, STRONGEST[len(weights) > FEW]
    return [
        {"head": name, "from": 0, "to": 1, "query": query + 0.5, "key": int(key) + 0.5}
        | {"value": float(row[key]), "strength": float(row[key]) / most}
        for query, row in enumerate(weights)
        for key in np.argsort(-row, kind="stable")[:number]
        if row[key] >= FAINTEST
    ]


def _names(tokens: Sequence[str], y: alt.Y, *, left: bool) -> alt.Chart:
    """A column of tokens."""
    rows = [{"query": index + 0.5, "token": token, "side": 0 if left else 1} for index, token in enumerate(tokens)]
    mark = alt.Chart(inline(rows)).mark_text(
        align="right" if left else "left", dx=-6 if left else 6, color=INK, limit=160, aria=False
    )
    return mark.encode(x=_x("side:Q"), y=y, text=alt.Text("token:N"))


def _x(field: str) -> alt.X:
    return alt.X(field, axis=None, scale=alt.Scale(domain=[0, 1]))


def picture(session: ViewSession, text: str, state: ViewState) -> Any:
    """The Altair chart of a view of a text that the session keeps.

    Raises `HeadscopeError` for a text of more tokens than the picture has room for, heads that the model does not have,
    or results or examples that are not at hand.
    """
    if state.view == "heads":
        return _grid(session, text, state.model)
    if state.view in LISTINGS:
        return LISTINGS[state.view](session, text, state)
    kept = session.kept(text)
    state = replace(state, words=kept.by_words if state.words is None else state.words)
    compared = [0, max(1, state.model)][: len(kept.maps)]
    models = compared if state.view == "compare" else [state.model]
    if kept.changes and state.view == "compare":
        state = replace(state, words=True, across=False)
    names = session.titles(text)
    units = {model: _units(session.maps(text, model), state) for model in models}
    if state.words and len(units) > 1:
        shared = _shared(kept, models, units[0])
        units = dict(zip(models, shared, strict=True))
    sides = [[_labels(session.maps(text, model), state, part) for part in units[model]] for model in models]
    if kept.changes is None and any(side != sides[0] for side in sides):
        raise HeadscopeError(
            "a picture of two models needs the same tokens; show words (w=words), or save one at a time (m=0 and m=1)"
        )
    rows, columns = sides[0]
    maps = {
        f"{layer}-{head}{f' of {names[model]}' if len(models) > 1 else ''}": _weights(
            session, text, state, (layer, head, model), units[model]
        )
        for layer, head in state.heads or session.usual_heads()
        for model in models
    }
    subject = f"Head {next(iter(maps))} of {names[state.model]}" if len(maps) == 1 else names[state.model]
    sentences = [_sentence(session.maps(text, model).text) for model in (models if kept.changes else [state.model])]
    title = f"{subject}: attention in {' and '.join(f'“{sentence}”' for sentence in sentences)}"
    draw, most = (attention_lines, MOST_LINES) if state.view == "lines" else (attention_images, MOST_CELLS)
    if max(len(rows), len(columns)) > most:
        raise HeadscopeError(
            f"a picture of {state.view} has room for {most:,} tokens; use a shorter text, or save it as html"
        )
    return draw(maps, rows, columns, title)


def _units(maps: TextMaps, state: ViewState) -> tuple[list[int], list[int]]:
    """The rows and the columns of a picture, as `unitsOf` of units.js: numbers of tokens or words."""
    text = maps.text
    first = [word.tokens[0] for word in text.words] if state.words else list(range(len(text)))
    plain = [unit for unit, token in enumerate(first) if not text.special[token]]
    if state.across and 1 in text.segment:
        sides = [[unit for unit in plain if text.segment[first[unit]] == segment] for segment in (0, 1)]
        return sides[0], sides[1]
    kept = list(range(len(first))) if state.special else plain
    return kept, kept


def _shared(
    kept: KeptText, models: Sequence[int], first: tuple[list[int], list[int]]
) -> list[tuple[list[int], list[int]]]:
    """The words that both maps have: those of the first one's rows and columns."""
    texts = [kept.maps[model].text for model in models]
    if kept.changes is None and texts[0].tokens == texts[1].tokens:
        return [first, first]
    pairs = dict(kept.changes.pairs if kept.changes else word_pairs(*texts))
    rows, columns = ([word for word in side if word in pairs] for side in first)
    return [(rows, columns), ([pairs[word] for word in rows], [pairs[word] for word in columns])]


def _sentence(text: TextTokens) -> str:
    """The beginning of a text, without tokens that the tokenizer adds."""
    words = (word.text for word in text.words if not text.special[word.tokens[0]])
    return shorten(" ".join(words), MOST_CHARACTERS, placeholder=" …")


def _labels(maps: TextMaps, state: ViewState, units: Sequence[int]) -> list[str]:
    labels = [word.text for word in maps.text.words] if state.words else maps.text.tokens
    return [labels[unit] for unit in units]


def _weights(
    session: ViewSession,
    text: str,
    state: ViewState,
    map_index: tuple[int, int, int],
    units: tuple[list[int], list[int]],
) -> Float[np.ndarray, "query key"]:
    """Attention between the units; `map_index` has layer, head and model."""
    layer, head, model = map_index
    maps = session.maps(text, model)
    session.refuse_head(maps, layer, head)
    if state.words and len(maps.text.words) > MOST_WORDS:
        raise HeadscopeError(f"the text has {len(maps.text.words):,} words; maps of words are for {MOST_WORDS}")
    tile = maps.between_words(layer, head) if state.words else maps.head_map(layer, head)
    return tile.attention[np.ix_(*units)]


def _grid(session: ViewSession, text: str, model: int) -> Any:
    """All heads as small maps, framed by what they do."""
    maximum, levels = session.maps(text, model).overview
    numbers = session.numbers(session.model_of(text, model))
    kinds = {(layer, head): (kind, word) for layer, head, kind, word in numbers["kinds"]}
    cells = [
        AtlasCell(layer, head, map_image(levels[layer - 1, head - 1]), *kinds.get((layer, head), ("mixed", "")))
        for layer, head in places(session.maps(text, model).heads)
    ]
    title = f"{session.titles(text)[model]}: all heads in “{_sentence(session.maps(text, model).text)}”"
    return atlas(cells, COLOURS, title, cell=60 if maximum.shape[1] <= 12 else 44)

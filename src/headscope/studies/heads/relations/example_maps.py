"""Maps of the heads that gain most, each of a typical sentence, after Figure 3 of Kovaleva et al. (2019)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.word_tokens import readable_ids
from headscope.models import Model
from headscope.passes.attention_maps import MapChoice, attention_maps
from headscope.passes.settings import DEFAULTS, Settings
from headscope.statistics.significance import LEAST_CASES
from headscope.studies.heads.relations.link_attention import DIRECTIONS, LinkAttention
from headscope.studies.heads.relations.observer import pairs_of
from headscope.studies.heads.relations.scores import largest_gain, least_gain

SHOWN = 3
# A longer sentence cannot be read in a figure.
LONGEST = 26


@dataclass(frozen=True)
class ExampleLink:
    """A head in the row of all heads, its direction, a relation, and an input with typical attention to its links."""

    head: int
    direction: int
    relation: str
    input: int


def picks(relations: Mapping[str, LinkAttention]) -> list[ExampleLink]:
    """The head that gains most in all links, then those that gain most in a relation of enough sentences.

    Each with the sentence in which its links get the median of what they get, among those short enough to be shown.
    """
    ranked = sorted(_best(relations), key=lambda best: (best[1].relation != "all", -best[0]))
    by_head: dict[int, ExampleLink] = {}
    for _, pick in ranked:
        by_head.setdefault(pick.head, pick)
    return list(by_head.values())[:SHOWN]


def _best(relations: Mapping[str, LinkAttention]) -> Iterator[tuple[float, ExampleLink]]:
    """The best head of each relation and its gain."""
    enough = [name for name, rows in relations.items() if rows.compared.sum() >= LEAST_CASES]
    for name in enough or list(relations)[:1]:
        rows = relations[name][relations[name].compared]
        short = np.flatnonzero(rows.length <= LONGEST)
        if len(short):
            head, direction = largest_gain(rows)
            attention = rows.linked[:, head, direction]
            usual = short[abs(attention[short] - np.median(attention)).argmin()]
            yield float(least_gain(rows)[head, direction]), ExampleLink(head, direction, name, int(rows.input[usual]))


def zoomed(
    model: Model, corpus: Corpus, words: Words, picked: list[ExampleLink], settings: Settings = DEFAULTS
) -> dict[str, xr.DataArray]:
    """The maps, each with the tokens of the query and of the key of its strongest pair; nothing where there is none.

    * `words`: as the corpus was read; what it counts is not counted again.
    """
    if not picked:
        return {}
    again, inputs = replace(words, counts=type(words.counts)()), {}
    last = max(link.input for link in picked)
    for encoded in again.encode(corpus):
        inputs[encoded.index] = encoded
        if encoded.index >= last:
            break
    heads = [(layer, head) for layer, number in enumerate(model.capture.heads) for head in range(number)]
    maps = attention_maps(model, [MapChoice(inputs[link.input], *heads[link.head]) for link in picked], settings.quiet)
    side = max(map(len, maps))
    levels = np.full((len(maps), side, side), np.nan, np.float32)
    token = np.full((len(maps), side), "", object)
    end = np.zeros((len(maps), side), int)
    for number, (pick, attention) in enumerate(zip(picked, maps, strict=True)):
        encoded, length = inputs[pick.input], len(attention)
        levels[number, :length, :length] = attention
        token[number, :length] = readable_ids(model.tokenizer, encoded.inputs["input_ids"].tolist())
        query, keys = strongest(attention, encoded, pick)
        end[number, query], end[number, keys] = 1, 2
    return {"map": _map_variable(levels, token, end, picked, heads)}


def strongest(attention: np.ndarray, encoded: Encoded, pick: ExampleLink) -> tuple[int, list[int]]:
    """The token whose row holds the largest attention of a link, and the other ends that it is linked to."""
    tokens: dict[int, list[int]] = {}
    for word, token in encoded.pieces.tolist():
        tokens.setdefault(word, []).append(token)
    pairs, before = [], 0
    for sentence in encoded.example.sentences if encoded.example else ():
        for link in sentence.links:
            if pick.relation in ("all", link.relation):
                pairs += [ends[:: 1 - 2 * pick.direction] for ends in pairs_of(link, tokens, before)]
        before += len(sentence.words)
    query = max(pairs, key=lambda pair: attention[pair])[0]
    return query, sorted({key for one, key in pairs if one == query})


def _map_variable(
    levels: np.ndarray, token: np.ndarray, end: np.ndarray, picked: list[ExampleLink], heads: list[tuple[int, int]]
) -> xr.DataArray:
    numbers = np.arange(1, levels.shape[1] + 1)
    coords = {
        "example": np.arange(1, len(levels) + 1),
        "query": numbers,
        "key": numbers,
        "token": (("example", "query"), token),
        "link_end": (("example", "query"), end),
        "map_layer": ("example", [heads[pick.head][0] + 1 for pick in picked]),
        "map_head": ("example", [heads[pick.head][1] + 1 for pick in picked]),
        "map_direction": ("example", [DIRECTIONS[pick.direction] for pick in picked]),
        "map_relation": ("example", [pick.relation for pick in picked]),
    }
    attributes = {
        "long_name": "a typical sentence of the heads that gain most",
        "units": "share of attention",
        "source": "Kovaleva et al. 2019, Figure 3",
    }
    return xr.DataArray(levels, coords, ("example", "query", "key"), attrs=attributes)

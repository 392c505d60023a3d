"""Kinds of heads: what a head does, by measured numbers with a threshold.

A study says which kinds its numbers show in `page/kinds.py`: `kinds(result)` yields `HeadKind`s.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

import xarray as xr

from headscope.report.parts import HeadKind
from headscope.report.study_page import study_page

# The colours of Okabe and Ito, the most specific kind first; a word stands beside each colour.
COLOURS = {
    "relation": "#cc79a7",
    "coreference": "#009e73",
    "link": "#117733",
    "previous": "#d55e00",
    "next": "#e69f00",
    "itself": "#000000",
    "cls": "#0072b2",
    "sep": "#56b4e9",
    "punct": "#b8a000",
    "broad": "#8a8a8a",
    "mixed": "#d9dee4",
}
NAMES = {kind: kind for kind in COLOURS} | {"cls": "[CLS]", "sep": "[SEP]", "punct": "punctuation"}
MEANINGS = {
    "relation": "finds a syntactic relation better than a fixed offset, by 10 points or more",
    "coreference": "finds the antecedent of mentions better than the baselines, by 10 points or more",
    "link": "attends to linked words more than to others",
    "previous": "gives the previous token 0.4 of its attention or more",
    "next": "gives the next token 0.4 of its attention or more",
    "itself": "gives the token itself 0.4 of its attention or more",
    "cls": "gives [CLS] 0.4 of its attention or more",
    "sep": "gives [SEP] 0.4 of its attention or more",
    "punct": "gives punctuation 0.4 of its attention or more",
    "broad": "has 0.9 of the entropy of uniform attention or more",
    "mixed": "none of these",
}


def head_kinds(results: Iterable[xr.Dataset]) -> dict[tuple[int, int], list[HeadKind]]:
    """The kinds of each head by the results at hand, the most specific first; heads without a kind are left out."""
    order = list(COLOURS)
    every = [kind for result in results for kind in study_page(result).kinds()]
    ranked = sorted(every, key=lambda each: (each.layer, each.head, order.index(each.kind)))
    return {place: list(kinds) for place, kinds in groupby(ranked, key=lambda each: (each.layer, each.head))}


def at_least(array: xr.DataArray, threshold: float, kind: str, word: str) -> list[HeadKind]:
    """The kind for each head of an array [layer, head] with a value of at least the threshold."""
    high = (array >= threshold).transpose("layer", "head")
    layers, heads = high["layer"].values, high["head"].values
    return [
        HeadKind(int(layers[row]), int(heads[column]), kind, word)
        for row, column in zip(*high.values.nonzero(), strict=True)
    ]


def by_name(values: xr.DataArray, dim: str, kind: str) -> list[HeadKind]:
    """The kind for each head that has a value for a label of `dim`; its word is the label with the largest value.

    * `values`: [layer, head, dim]; NaN where a head is not special.
    """
    best = values.transpose("layer", "head", dim)
    named = best.notnull().any(dim)
    place = best.fillna(-1).argmax(dim)
    return [
        HeadKind(int(layer), int(head), kind, str(best[dim].values[int(place.sel(layer=layer, head=head))]))
        for layer in best["layer"].values
        for head in best["head"].values
        if bool(named.sel(layer=layer, head=head))
    ]


def words_of(kinds: Sequence[HeadKind]) -> str:
    """The kinds of one head in words.

    >>> from headscope.report.parts import HeadKind
    >>> words_of([HeadKind(1, 3, "relation", "det"), HeadKind(1, 3, "cls", "[CLS]")])
    'det, [CLS]'
    """
    return ", ".join(dict.fromkeys(each.word for each in kinds))

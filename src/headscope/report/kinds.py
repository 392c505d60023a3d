"""Kinds of heads: what a head does, by measured numbers with a threshold.

A study declares its kinds, and says which heads have them by the `kinds` of its page, which yield `HeadKind`s. Those
of attention itself are read from any result that holds its numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import xarray as xr

from headscope import catalog
from headscope.figures.labels import of_model, special_tokens
from headscope.report.parts import HeadKind
from headscope.report.study_page import study_page
from headscope.study import Kind

SHARE, NEAR_UNIFORM = 0.4, 0.9
NEIGHBOURS = {-1: "previous", 1: "next", 0: "itself"}
CLASSES = {"cls": "[CLS]", "sep": "[SEP]", "punct": "punctuation"}

MIXED = "mixed"
# The variables that say the kinds of attention itself.
ATTENTION = frozenset(("attention_offset", "attention_to", "entropy"))
# Their colours are those of Okabe and Ito; a word stands beside each colour.
OF_ATTENTION = (
    Kind(60, "previous", "#d55e00", "gives the previous token 0.4 of its attention or more"),
    Kind(61, "next", "#e69f00", "gives the next token 0.4 of its attention or more"),
    Kind(62, "itself", "#000000", "gives the token itself 0.4 of its attention or more"),
    Kind(63, "cls", "#0072b2", "gives [CLS] 0.4 of its attention or more", CLASSES["cls"]),
    Kind(64, "sep", "#56b4e9", "gives [SEP] 0.4 of its attention or more", CLASSES["sep"]),
    Kind(65, "punct", "#b8a000", "gives punctuation 0.4 of its attention or more", CLASSES["punct"]),
    Kind(80, "broad", "#8a8a8a", "has 0.9 of the entropy of uniform attention or more"),
    Kind(1000, MIXED, "#d9dee4", "none of these"),
)
DECLARED = (kind for study in catalog.names("studies") for kind in catalog.study(study).kinds)
KINDS = sorted((*OF_ATTENTION, *DECLARED), key=lambda kind: kind.rank)
# By kind, the most specific one first.
COLOURS = {kind.name: kind.colour for kind in KINDS}
NAMES = {kind.name: kind.word or kind.name for kind in KINDS}
MEANINGS = {kind.name: kind.meaning for kind in KINDS}


def kind_words(attributes: Mapping[Any, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The name and the meaning of each kind, with the special tokens of a result's model.

    * `attributes`: of the result.
    """
    with special_tokens(attributes):
        names, meanings = ({kind: of_model(text) for kind, text in texts.items()} for texts in (NAMES, MEANINGS))
        return names, meanings


def head_kinds(results: Iterable[xr.Dataset]) -> dict[tuple[int, int], list[HeadKind]]:
    """The kinds of each head by the results at hand, the most specific first; heads without a kind are left out."""
    order = list(COLOURS)
    kinds = [kind for result in results for kind in (*attention_kinds(result), *study_page(result).kinds())]
    ranked = sorted(dict.fromkeys(kinds), key=lambda kind: (kind.layer, kind.head, order.index(kind.kind)))
    return {head: list(kinds) for head, kinds in groupby(ranked, key=lambda kind: (kind.layer, kind.head))}


def attention_kinds(result: xr.Dataset) -> list[HeadKind]:
    """Shares of attention of 0.4 or more, and an entropy of 0.9 of that of uniform attention or more."""
    with special_tokens(result.attrs):
        return of_model([*_attention_kinds(result)])


def _attention_kinds(result: xr.Dataset) -> Iterator[HeadKind]:
    names = set() if "corpus" in result.dims else set(result)  # of several corpora see `kinds_by_corpus`
    if "attention_offset" in names:
        for offset, word in _present(NEIGHBOURS, result["offset"]):
            yield from at_least(result["attention_offset"].sel(offset=offset), SHARE, word, word)
    if "attention_to" in names:
        for token_class, word in _present(CLASSES, result["token_class"]):
            yield from at_least(result["attention_to"].sel(token_class=token_class), SHARE, token_class, word)
    if {"entropy", "uniform_entropy"} <= names:
        yield from at_least(result["entropy"], NEAR_UNIFORM * float(result["uniform_entropy"]), "broad", "broad")


def _present(words: Mapping[Any, str], labels: xr.DataArray) -> list[tuple[Any, str]]:
    """The labels that a result has, which may be a part of another, with their words."""
    return [(label, word) for label, word in words.items() if label in labels.values.tolist()]


def at_least(array: xr.DataArray, threshold: float, kind: str, word: str) -> list[HeadKind]:
    """The kind for each head of an array [layer, head] with a value of at least the threshold."""
    return where_true(array >= threshold, kind, word)


def where_true(mask: xr.DataArray, kind: str, word: str) -> list[HeadKind]:
    """The kind for each head for which a mask [layer, head] is true."""
    mask = mask.transpose("layer", "head")
    layers, heads = mask["layer"].values, mask["head"].values
    return [
        HeadKind(int(layers[row]), int(heads[column]), kind, word)
        for row, column in zip(*mask.values.nonzero(), strict=True)
    ]


def by_name(values: xr.DataArray, dim: str, kind: str) -> list[HeadKind]:
    """The kind for each head and label of `dim` with a value; its word is the label, the largest value of a head first.

    * `values`: [layer, head, dim]; NaN where a head is not special.
    """
    ordered = values.transpose("layer", "head", dim).rename("value").reset_coords(drop=True)
    frame = ordered.to_dataframe().reset_index().dropna(subset="value")
    rows = frame.sort_values("value", ascending=False, kind="stable").to_dict("records")
    return [HeadKind(int(row["layer"]), int(row["head"]), kind, str(row[dim])) for row in rows]


def words_of(kinds: Sequence[HeadKind]) -> str:
    """The kinds of one head in words.

    >>> words_of([HeadKind(1, 3, "relation", "det"), HeadKind(1, 3, "cls", "[CLS]")])
    'det, [CLS]'
    """
    return ", ".join(dict.fromkeys(kind.word for kind in kinds))

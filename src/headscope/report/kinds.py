"""Kinds of heads: what a head does, by measured numbers with a threshold.

A study says which kinds its numbers show by the `kinds` of its page, which yield `HeadKind`s. Those of
attention itself are read from any result that holds its numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import xarray as xr

from headscope.figures.labels import PATTERNS, of_model, special_tokens
from headscope.report.parts import HeadKind
from headscope.report.study_page import study_page

SHARE, NEAR_UNIFORM = 0.4, 0.9
NEIGHBOURS = {-1: "previous", 1: "next", 0: "itself"}
CLASSES = {"cls": "[CLS]", "sep": "[SEP]", "punct": "punctuation"}

MIXED = "mixed"
# The variables that say the kinds of attention itself.
ATTENTION = frozenset(("attention_offset", "attention_to", "entropy"))
# The colours of Okabe and Ito, the most specific kind first; a word stands beside each colour.
COLOURS = {
    "relation": "#cc79a7",
    "coreference": "#009e73",
    "induction": "#332288",
    "duplicate": "#44aa99",
    "retrieval": "#88ccee",
    "copying": "#661100",
    "link": "#117733",
    "same_word": "#7f5539",
    "rare": "#4d4dff",
    "previous": "#d55e00",
    "next": "#e69f00",
    "itself": "#000000",
    "cls": "#0072b2",
    "sep": "#56b4e9",
    "punct": "#b8a000",
    "end": "#6b6b00",
    "sink": "#6d8ba3",
    "broad": "#8a8a8a",
    "vertical": "#6699cc",
    "diagonal": "#aa4499",
    "vertical_diagonal": "#882255",
    "block": "#999933",
    "needed": "#b2182b",
    "changed": "#762a83",
    MIXED: "#d9dee4",
}
NAMES = (
    {kind: kind for kind in COLOURS}
    | {"duplicate": "earlier copy", "same_word": "same word", "rare": "rare words"}
    | CLASSES
    | PATTERNS
)
MEANINGS = {
    "relation": "finds a syntactic relation better than a fixed word, by 10 points or more",
    "coreference": "finds the antecedent of mentions better than the baselines, by 10 points or more",
    "induction": "looks behind an earlier copy of the token, 0.1 more than without the copy",
    "duplicate": "looks at an earlier copy of the token, 0.1 more than without the copy",
    "retrieval": "looks behind the only earlier copy wherever it stands in a long text, 0.1 more than without it",
    "copying": "raises the prediction of three quarters of the tokens where it looks at them",
    "link": "attends to linked words more than to others",
    "same_word": "looks at the same word in the other segment of a pair, 0.1 more than both baselines",
    "rare": "gives a token more attention the rarer its piece is: a rank correlation of -0.4 or less",
    "previous": "gives the previous token 0.4 of its attention or more",
    "next": "gives the next token 0.4 of its attention or more",
    "itself": "gives the token itself 0.4 of its attention or more",
    "cls": "gives [CLS] 0.4 of its attention or more",
    "sep": "gives [SEP] 0.4 of its attention or more",
    "punct": "gives punctuation 0.4 of its attention or more",
    "end": "gives the last token of a segment 0.4 of its attention or more",
    "sink": "gives the first token, delimiters, or periods and commas 0.4 of its attention or more",
    "broad": "has 0.9 of the entropy of uniform attention or more",
    "vertical": "has vertical stripes in more than half of its maps",
    "diagonal": "has a diagonal in more than half of its maps",
    "vertical_diagonal": "has stripes and a diagonal in more than half of its maps",
    "block": "spreads attention nearly evenly, over the input or its segments, in more than half of its maps",
    "needed": "the score of the task, or of a phenomenon, is lower without it, beyond chance",
    "changed": "attends clearly otherwise than in the first model: cosine similarity below 0.9",
    MIXED: "none of these",
}


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

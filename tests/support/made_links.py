"""Sentences with links, attention made by hand, and what heads give to links once more in loops."""

from collections.abc import Sequence
from random import Random

import numpy as np
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example, Link
from headscope.studies.heads.relations.link_attention import LinkAttention, baselines
from headscope.studies.heads.relations.observer import LinkObserver
from support.any_examples import overlapping, spoken
from support.made_inputs import shown_maps

KINDS = ("elsewhere", "others", "other_ends")


def found_by(
    reader: LinkObserver, layers: Sequence[list[Tensor]], inputs: list[Encoded], block: int = 10**6
) -> LinkAttention:
    """What a reader finds when it is shown the maps of each layer, so many queries at a time."""
    return shown_maps(reader, layers, inputs, block)


def naive(example: Example, attention: np.ndarray, seed: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """By relation, what each head gives to links and to each baseline [head, direction]: pair of tokens by pair."""
    found: dict[str, dict[str, list]] = {}
    for number, (sentence, tokens) in enumerate(overlapping(example, spoken(example))):
        others = baselines(
            sentence, Random(f"{seed} {number} {example.id}"), None, lambda word, its=tokens: len(its[word])
        )
        for link, (elsewhere, source, target) in zip(sentence.links, others, strict=True):
            its = _values(attention, link, tokens)
            if its is not None:
                kinds = found.setdefault(link.relation, {name: [] for name in ("linked", *KINDS)})
                kinds["linked"].append(its)
                kinds["elsewhere"].append(_values(attention, elsewhere, tokens))
                one, other = (_values(attention, baseline, tokens) for baseline in (source, target))
                kinds["others"].append(_crossed(one, other))
                kinds["other_ends"].append(_crossed(other, one))
    return {relation: _largest(kinds) for relation, kinds in found.items()}


def _crossed(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    return None if first is None or second is None else np.stack([first[:, 0], second[:, 1]], 1)


def _largest(kinds: dict[str, list]) -> dict[str, np.ndarray]:
    its = [of_link for of_link in zip(*kinds.values(), strict=True) if all(value is not None for value in of_link)]
    nothing = np.full(kinds["linked"][0].shape, np.nan)
    names = ("matched", *KINDS)
    largest = {name: np.max(values, axis=0) for name, values in zip(names, zip(*its, strict=True), strict=False)}
    return dict.fromkeys(names, nothing) | largest | {"linked": np.max(kinds["linked"], axis=0)}


def _values(attention: np.ndarray, link: Link | None, tokens: list[set[int]]) -> np.ndarray | None:
    if link is None:
        return None
    pairs = [
        (one, other)
        for source in link.source
        for target in link.target
        for one in tokens[source]
        for other in tokens[target]
        if one != other
    ]
    if not pairs:
        return None
    ways = [max_over(attention, pairs), max_over(attention, [(other, one) for one, other in pairs])]
    return np.stack(ways, axis=1)


def max_over(attention: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.max([attention[:, query, key] for query, key in pairs], axis=0)


def rows(values: Sequence[tuple[int, str, float, float, float]], heads: int = 1) -> LinkAttention:
    """Rows of one head, or several alike, from (input, relation, linked, elsewhere, others), back the half of each."""
    columns = [np.array(column) for column in zip(*values, strict=True)]

    def both(column: np.ndarray) -> np.ndarray:
        return np.stack([column, column / 2], -1)[:, None].repeat(heads, 1).astype(np.float32)

    number = len(values)
    return LinkAttention(
        columns[0],
        columns[0],
        np.full(number, 9),
        columns[1],
        np.ones(number, dtype=int),
        *(both(column) for column in columns[2:]),
        *np.zeros((2, number, heads, 2)),
    )

"""The numbers of every layer in several results of a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import xarray as xr

from headscope.report.parts import Finding, LayerNumber
from headscope.report.study_page import study_page


def layer_numbers(results: Sequence[xr.Dataset]) -> list[LayerNumber]:
    """The numbers of every layer; where two results have one of a name, the corpus is part of it."""
    parts = [(result, study_page(result).layer_numbers()) for result in results]
    names = [one.words for _, numbers in parts for one in numbers]
    return [
        replace(one, words=f"{one.words} ({result.attrs['corpus']})") if names.count(one.words) > 1 else one
        for result, numbers in parts
        for one in numbers
    ]


def grid_of(numbers: Sequence[LayerNumber]) -> xr.DataArray:
    """All numbers as one array, with the words of each value and the chosen layers."""
    rows = [number.array.reset_coords(drop=True) for number in numbers]
    names = xr.Variable("number", [number.words for number in numbers])
    grid = xr.concat(rows, names, join="outer").transpose("number", "layer").rename("value")
    layers = grid["layer"].values.tolist()
    texts = [[number.words_at(layer) for layer in layers] for number in numbers]
    chosen = [-1 if number.chosen is None else number.chosen for number in numbers]
    return grid.assign_coords(text=(("number", "layer"), texts), chosen=("number", chosen))


def highlights(numbers: Sequence[LayerNumber]) -> Iterator[Finding]:
    """For each topic, the layers that other data than the numbers' own chose, most numbers first."""
    for topic in dict.fromkeys(one.topic for one in numbers):
        chosen = [one for one in numbers if one.topic == topic and one.chosen is not None]
        # layers by how many numbers they are best for, the lowest of equals first
        layers = [layer for layer, _ in Counter(sorted(one.chosen or 0 for one in chosen)).most_common()]
        texts = [f"layer {layer} for {_listed([one.words for one in best_of(chosen, layer)])}" for layer in layers]
        if texts:
            yield Finding(topic, f"Other examples chose {'; '.join(texts)}.")


def best_of(numbers: Sequence[LayerNumber], layer: int) -> list[LayerNumber]:
    """The numbers for which a layer was chosen as the best.

    >>> import xarray as xr
    >>> best_of([LayerNumber("Trees", "root", xr.DataArray([0.5], {"layer": [1]}, ("layer",)), 1)], 2)
    []
    """
    return [one for one in numbers if one.chosen == layer]


def _listed(words: list[str]) -> str:
    return ", ".join(word[:1].lower() + word[1:] if word[1:2].islower() else word for word in words)

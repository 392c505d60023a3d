"""The numbers of every layer in several results of a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import xarray as xr

from headscope.report.parts import Finding, LayerNumber
from headscope.report.study_page import study_page
from headscope.report.wording import Estimate, number, of_array


def layer_numbers(results: Sequence[xr.Dataset]) -> list[LayerNumber]:
    """The numbers of every layer; where two results have one of a name, the corpus is part of it."""
    parts = [(result, study_page(result).layer_numbers()) for result in results]
    names = [entry.words for _, numbers in parts for entry in numbers]
    return [
        replace(entry, words=f"{entry.words} ({result.attrs['corpus']})") if names.count(entry.words) > 1 else entry
        for result, numbers in parts
        for entry in numbers
    ]


def value(entry: LayerNumber, layer: int) -> Estimate:
    """The number in a layer, with its interval."""
    return of_array(entry.array.sel(layer=layer))


def words_of(entry: LayerNumber, layer: int) -> str:
    """The number in a layer as the grid writes it, without its interval.

    >>> import xarray as xr
    >>> array = xr.DataArray([0.5, 0.734], {"layer": [1, 2]}, ("layer",))
    >>> words_of(LayerNumber("Trees", "root", array, 2), 2)
    '73.4%'
    """
    share = value(entry, layer).value
    return f"{share:.1%}" if entry.is_share else number(share)


def grid_of(numbers: Sequence[LayerNumber]) -> xr.DataArray:
    """All numbers as one array, with the words of each value and the chosen layers."""
    rows = [number.array.reset_coords(drop=True) for number in numbers]
    names = xr.Variable("number", [number.words for number in numbers])
    grid = xr.concat(rows, names, join="outer").transpose("number", "layer").rename("value")
    layers = grid["layer"].values.tolist()
    texts = [
        [words_of(number, layer) if layer in number.array["layer"].values else "" for layer in layers]
        for number in numbers
    ]
    chosen = [-1 if number.chosen is None else number.chosen for number in numbers]
    return grid.assign_coords(text=(("number", "layer"), texts), chosen=("number", chosen))


def highlights(numbers: Sequence[LayerNumber]) -> Iterator[Finding]:
    """For each topic, the layers that other data than the numbers' own chose, most numbers first."""
    for topic in dict.fromkeys(entry.topic for entry in numbers):
        chosen = [entry for entry in numbers if entry.topic == topic and entry.chosen is not None]
        # layers by how many numbers they are best for, the lowest of equals first
        layers = [layer for layer, _ in Counter(sorted(entry.chosen or 0 for entry in chosen)).most_common()]
        texts = [f"layer {layer} for {_listed([entry.words for entry in best_of(chosen, layer)])}" for layer in layers]
        if texts:
            yield Finding(topic, f"Chosen: {'; '.join(texts)}.")


def best_of(numbers: Sequence[LayerNumber], layer: int) -> list[LayerNumber]:
    """The numbers for which a layer was chosen as the best.

    >>> import xarray as xr
    >>> best_of([LayerNumber("Trees", "root", xr.DataArray([0.5], {"layer": [1]}, ("layer",)), 1)], 2)
    []
    """
    return [entry for entry in numbers if entry.chosen == layer]


def _listed(words: list[str]) -> str:
    return ", ".join(word[:1].lower() + word[1:] if word[1:2].islower() else word for word in words)

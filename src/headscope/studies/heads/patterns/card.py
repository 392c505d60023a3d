"""The patterns of a head's maps, and the clearest of them (Kovaleva et al. 2019, section 4.1)."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import attention_maps, with_interval
from headscope.figures.labels import label
from headscope.report.cards.head_numbers import Row, cases, of_variable, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.kinds import COLOURS, where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, HeadKind

SOME, HALF = 0.05, 0.5


def over_corpora(result: xr.Dataset, name: str) -> xr.DataArray:
    """A variable with its interval; of several corpora the mean, which has none."""
    array = with_interval(result, name)
    if "task" not in array.dims:
        return array
    attributes = array.attrs | {"long_name": f"{array.attrs['long_name']}, mean over corpora"}
    return result[name].mean("task").assign_attrs(attributes)


def badges(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The pattern with the largest share of a head's maps; of several corpora, over all of them."""
    share = over_corpora(result, "share")
    best = share.fillna(-1).idxmax("pattern").where(share.notnull().all("pattern"), "")
    words = [label("pattern", name) for name in best.values.ravel().tolist()]
    return {"Pattern": best.copy(data=np.array(words, dtype=object).reshape(best.shape))}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The shares of the patterns, by corpus."""
    shares = sorted(of_variable(numbers, "share"), key=lambda row: -row.value)
    if shares:
        texts = [f"{row.words} {value(row)} ({ranked(row)})" for row in shares if row.value >= SOME]
        yield Finding("Patterns", f"Share of its maps: {'; '.join(texts)}; {cases(shares[0])}.")


def maps(result: xr.Dataset, layer: int, head: int) -> Iterator[Figure]:
    """Its clearest maps, that of its most frequent pattern first."""
    if "head_map" not in result:
        return
    head_labels = {"layer": layer, "head": head}
    maps, share = result["head_map"].sel(head_labels), over_corpora(result, "share").sel(head_labels)
    order = share["pattern"].values[(-share.values).argsort(kind="stable")].tolist()
    examples = [
        clear_map(maps.sel(pattern=name), "head_map", label("pattern", name))
        for name in order
        if maps.sel(pattern=name).notnull().any()
    ]
    if examples:
        caption = (
            "For each frequent pattern of the head, the input of 12 to 40 tokens whose map shows it most clearly, with "
            "the probability of the classifier. Darker: more attention; each map has its own scale."
        )
        yield Figure("maps", "Clearest maps", attention_maps(examples, "Clearest maps"), caption, "share")


def clear_map(array: xr.DataArray, variable: str, name: str) -> tuple[xr.DataArray, list[str]]:
    """A map without its padding, named with its probability, and its tokens.

    * `variable`: map or head_map.
    """
    tokens = [token for token in array["token" if variable == "map" else "head_map_token"].values.tolist() if token]
    name = f"{name} ({float(array[f'{variable}_confidence']):.2f})"
    return xr.DataArray(array.values[: len(tokens), : len(tokens)], dims=("query", "key"), name=name), tokens


def kinds(numbers: Numbers) -> Iterator[HeadKind]:
    """A pattern in more than half of the maps of a head; heterogeneous maps have none."""
    share = over_corpora(numbers.result, "share")
    for pattern in share["pattern"].values.tolist():
        if pattern in COLOURS:
            yield from where_true(share.sel(pattern=pattern) > HALF, pattern, label("pattern", pattern))


CARD = StudyCard(hidden=("counted",), main_numbers=("share",), badges=badges, sentences=sentences, maps=maps)

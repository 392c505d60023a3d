"""The patterns of a head's maps, and the clearest of them (Kovaleva et al. 2019, section 4.1)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from headscope.figures import attention_maps
from headscope.figures.labels import label
from headscope.report.cards.wording import cases, of, ranked, value
from headscope.report.parts import Figure, Finding
from headscope.studies.patterns.page.figures import over_corpora

HIDDEN = ("probability",)
SOME = 0.05


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The share of its most frequent pattern; which that is is in `notes`."""
    return ("share",)


def badges(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The pattern that most of a head's maps have; of several corpora, over all of them."""
    share = over_corpora(result, "share")
    best = share.fillna(-1).idxmax("pattern").where(share.notnull().all("pattern"), "")
    words = [label("pattern", name) for name in best.values.ravel().tolist()]
    return {"Pattern": best.copy(data=np.array(words, dtype=object).reshape(best.shape))}


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """What share of its maps has which pattern, of each corpus."""
    shares = sorted(of(numbers, "share"), key=lambda row: -row.value)
    if shares:
        said = [f"{row.words} {value(row)} ({ranked(row)})" for row in shares if row.value >= SOME]
        yield Finding("Patterns", f"Share of its maps: {'; '.join(said)}; {cases(shares[0])}.")


def maps(result: xr.Dataset, layer: int, head: int) -> Iterator[Figure]:
    """Its clearest maps, that of its most frequent pattern first."""
    if "head_map" not in result:
        return
    place = {"layer": layer, "head": head}
    drawn, share = result["head_map"].sel(place), over_corpora(result, "share").sel(place)
    order = share["pattern"].values[(-share.values).argsort(kind="stable")].tolist()
    shown = [_with_tokens(drawn.sel(pattern=name)) for name in order if drawn.sel(pattern=name).notnull().any()]
    if shown:
        caption = (
            "Of each of its most frequent patterns the input, of 12 to 40 tokens, whose map shows it most surely; in "
            "brackets how sure the classifier is. Each map is in shades of its own largest value."
        )
        yield Figure("maps", "Where it is most itself", attention_maps(shown, "Its clearest maps"), caption, "share")


def _with_tokens(one: xr.DataArray) -> tuple[xr.DataArray, list[str]]:
    tokens = [token for token in one["head_map_token"].values.tolist() if token]
    name = f"{label('pattern', one['pattern'].item())} ({float(one['head_map_confidence']):.2f})"
    return xr.DataArray(one.values[: len(tokens), : len(tokens)], dims=("query", "key"), name=name), tokens

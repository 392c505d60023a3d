"""Figures of `probe`: the parsers, the contribution of each head, and the recall of each relation."""

import xarray as xr

from headscope.figures import bars, heatmap, with_interval
from headscope.report.parts import Figure
from headscope.statistics.significance import LEAST_CASES
from headscope.studies.probe.page.tables import NAMES, parsers

PARSERS, HEADS, RELATIONS = "Parsers", "Which heads", "Which relations"
MOST_ROWS = 16
COMPARED = ("attention", "attention_and_words", "distances_and_words")


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result; relations of few words are left out of them."""
    order = list(parsers(result))
    caption = (
        "Words that get their syntactic head in the best tree, with 95% intervals over sentences; punctuation is left "
        "out. After Clark et al. (2019), Table 3."
    )
    scores = [_in_words(with_interval(result, "uas").sel(probe=order))] if order else []
    return [
        *(Figure("uas", PARSERS, bars(array), caption, "uas") for array in scores),
        Figure(
            "contribution",
            HEADS,
            heatmap(with_interval(result, "contribution"), diverging=True),
            "Rise of the score of the syntactic head: the weight of each head in the parser that sees attention alone, "
            "times its attention to the syntactic head minus that to another word. The contribution of a head depends "
            "on the other heads.",
            "contribution",
        ),
        *_by_relation(result),
    ]


def _by_relation(result: xr.Dataset) -> list[Figure]:
    enough = result.sel(relation=result["recall_n_examples"] >= LEAST_CASES).isel(relation=slice(MOST_ROWS))
    if not enough.sizes["relation"]:
        return []
    recall = (
        with_interval(enough, "recall")
        .sel(probe=[name for name in COMPARED if name in enough["probe"]])
        .transpose("relation", "probe")
    )
    caption = (
        f"Words of each relation that get their syntactic head. The {MOST_ROWS} most frequent relations, of at least "
    )
    return [
        Figure("recall", RELATIONS, bars(_in_words(recall)), f"{caption}{LEAST_CASES} words; 95% intervals.", "recall")
    ]


def _in_words(array: xr.DataArray) -> xr.DataArray:
    return array.assign_coords(probe=[NAMES[name] for name in array["probe"].values.tolist()])

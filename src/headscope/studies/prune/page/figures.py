"""Figures of pruning: what is left of the score, of the model, and of which layers."""

import xarray as xr

from headscope.figures import heatmap, with_interval
from headscope.figures.curve import curve
from headscope.report.parts import Figure

COST, MODEL = "What pruning costs", "What is left"


def figures(result: xr.Dataset) -> list[Figure]:
    """Scores and sizes by the share of heads that is gone, and the order in which they went."""

    def over_shares(name: str, reference: float | None = None) -> object:
        return curve(with_interval(result, name), "share_removed", percent=True, reference=reference)

    found = [
        Figure("pruned_score", COST, over_shares("pruned_score"), "With 95% intervals over examples.", "pruned_score"),
        Figure(
            "score_change",
            COST,
            over_shares("score_change", reference=0.0),
            "Less the unpruned model's, on the same examples. Where the band holds 0 the change may be chance.",
            "score_change",
        ),
        Figure(
            "parameters", MODEL, over_shares("parameters"), "Embeddings and feed-forward layers stay.", "parameters"
        ),
    ]
    if bool(result["removed_at"].notnull().any()):
        caption = "Pale heads went first, dark ones last; those that stay have no cell."
        found.append(Figure("removed_at", MODEL, heatmap(result["removed_at"]), caption, "removed_at"))
    return found

"""Figures of pruning: the score, the size, and the order of removal."""

import xarray as xr

from headscope.figures import heatmap, with_interval
from headscope.figures.curve import curve
from headscope.report.parts import Figure

COST, MODEL = "Score after pruning", "The pruned model"


def figures(result: xr.Dataset) -> list[Figure]:
    """Scores and sizes by the share of heads removed, and the order of removal."""

    def over_shares(name: str, reference: float | None = None) -> object:
        return curve(with_interval(result, name), "share_removed", percent=True, reference=reference)

    charts = [
        Figure("pruned_score", COST, over_shares("pruned_score"), "With 95% intervals over examples.", "pruned_score"),
        Figure(
            "score_change",
            COST,
            over_shares("score_change", reference=0.0),
            "Score minus that of the unpruned model on the same examples. Band with 0: may be chance.",
            "score_change",
        ),
        Figure(
            "parameters", MODEL, over_shares("parameters"), "Embeddings and feed-forward layers stay.", "parameters"
        ),
    ]
    if bool(result["removed_at"].notnull().any()):
        last = float(result["removed_at"].max())
        caption = "Pale heads were removed first, dark heads last; the remaining heads have no cell."
        charts.append(
            Figure(
                "removed_at", MODEL, heatmap(result["removed_at"], domain=(-0.2 * last, last)), caption, "removed_at"
            )
        )
    return charts

"""The predictions of each layer as a table."""

import xarray as xr

from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import estimate
from headscope.studies.lens.page.findings import lenses

COLUMNS = {
    "right": "Right",
    "final_first": "As the last layer",
    "settled": "Settled",
    "final_rank": "Rank of the last",
    "final_divergence": "Divergence",
}


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each layer, from the embeddings on, and lens."""
    caption = (
        "Predictions of each layer in per cent with 95% intervals: of the right piece, of what the last layer "
        "predicts, and those that no later layer changes; geometric mean of the rank of the last layer's prediction; "
        "Kullback-Leibler divergence of the last distribution from that of the layer, in nats."
    )
    columns = tuple(Column(name, words) for name, words in COLUMNS.items())
    rows = [
        ((lens, str(space) if space else "embeddings"), _cells(result, lens, space))
        for lens in lenses(result)
        for space in result["space"].values.tolist()
    ]
    return [Table("predictions", caption, ("Lens", "Layer"), columns, rows)]


def _cells(result: xr.Dataset, lens: str, space: int) -> Cells:
    where = {"lens": lens, "space": space}
    shares = [estimate(result, name, **where).cell(".1f", 100) for name in ("right", "final_first", "settled")]
    rank, divergence = (estimate(result, f"final_{name}", **where) for name in ("rank", "divergence"))
    return [*shares, rank.cell(".1f"), divergence.cell(".2f")]

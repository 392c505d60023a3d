"""Scores of the held-out text after each epoch."""

import xarray as xr

from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, number

SPECS = {"loss": ".3f", "perplexity": ".1f", "accuracy": ".3f"}


def tables(result: xr.Dataset) -> list[Table]:
    """A row for the frequencies of pieces, and for each epoch from 0, the untrained head."""
    chance: Cells = [(number(float(result[f"unigram_{name}"]), spec), "") for name, spec in SPECS.items()]
    epochs: list[tuple[str, Cells]] = [
        (str(epoch), [estimate(result, name, epoch=epoch).cell(spec) for name, spec in SPECS.items()])
        for epoch in result["epoch"].values.tolist()
    ]
    caption = "Masked tokens of the held-out text; epoch 0 is the untrained head, unigrams are piece frequencies alone."
    return [titled("scores", caption, "Epoch", map(str.capitalize, SPECS), [("unigrams", chance), *epochs])]

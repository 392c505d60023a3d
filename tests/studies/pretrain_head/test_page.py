"""The page of `pretrain_head` says what was planted: whether the head is better than the frequency of pieces."""

import numpy as np
import xarray as xr

from headscope.report.study_page import study_page
from support.made_result import made_result
from support.snapshot import assert_page

CHANCE = {"unigram_loss": 6.0, "unigram_perplexity": float(np.exp(6.0)), "unigram_accuracy": 0.05}


def result_of(last: float = 4.0, *, half: float = 0.1, n: int = 500, epochs: int = 3) -> xr.Dataset:
    """A training whose loss falls from 10, untrained, to 3.9 in the last epoch but one and `last` in the last."""
    loss = xr.DataArray([10.0, *[3.9] * (epochs - 1), last], {"epoch": range(epochs + 1)})
    measured = {"loss": loss, "perplexity": np.exp(loss), "accuracy": loss * 0 + 0.3}
    measured |= {"loss_gain": CHANCE["unigram_loss"] - loss, "accuracy_gain": loss * 0 + 0.25}
    beside = {name: xr.DataArray(value) for name, value in CHANCE.items()}
    beside["train_loss"] = xr.DataArray(np.linspace(10, last, 50), {"progress": np.arange(1, 51) / 50})
    return made_result("pretrain_head", measured, beside, half=half, n=n, adapted_head="new (encoder frozen)")


def test_the_pages_say_the_planted_numbers() -> None:
    pages = {"all": result_of(), "no gain": result_of(6.5), "one epoch": result_of(epochs=1), "best": result_of(3.5)}
    assert_page(__file__, pages, {"unsure": result_of(5.95), "nine inputs": result_of(n=9)})


def test_table_and_figures_have_every_epoch_beside_the_frequencies() -> None:
    result = result_of()
    (table,) = study_page(result).tables()
    assert [key[0] for key, _ in table.rows] == ["unigrams", "0", "1", "2", "3"]
    assert [cell and cell[0] for cell in table.rows[0][1]] == ["6.000", "403.4", "0.050"]
    assert [cell and cell[0] for cell in table.rows[-1][1]] == ["4.000", "54.6", "0.300"]
    figures = {figure.name: figure.chart.to_dict() for figure in study_page(result).figures()}
    assert list(figures) == ["loss", "accuracy", "train_loss"]
    rows = [row for data in figures["loss"]["datasets"].values() for row in data]
    assert {row["epoch"]: row["value"] for row in rows if "epoch" in row} == {0: 10.0, 1: 3.9, 2: 3.9, 3: 4.0}
    assert [row["reference"] for row in rows if "reference" in row] == [6.0]
    assert len(next(iter(figures["train_loss"]["datasets"].values()))) == 50

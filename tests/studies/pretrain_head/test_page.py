"""The page of `pretrain_head` says what was planted: whether the head is better than the frequency of pieces."""

import numpy as np
import xarray as xr

from headscope.report.study_page import study_page
from support.findings import texts_of
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


def verdict_of(result: xr.Dataset) -> tuple[str, str | None]:
    (finding,) = (finding for finding in study_page(result).findings() if finding.claim)
    return finding.topic, finding.verdict


def test_a_head_is_better_than_frequencies_only_where_that_is_sure() -> None:
    assert verdict_of(result_of()) == ("The head predicts masked tokens better than frequencies do", "holds")
    worse = "The head predicts masked tokens no better than frequencies do", "fails"
    assert verdict_of(result_of(6.5)) == worse
    unsure = "It cannot be told whether the head is better than frequencies", "undecided"
    assert verdict_of(result_of(5.95)) == unsure
    assert verdict_of(result_of(n=9)) == unsure


def test_the_loss_stands_beside_those_before_and_by_frequency() -> None:
    assert_page(__file__, {"all": result_of(), "no gain": result_of(6.5)})
    assert "Train on more text" in next(f for f in study_page(result_of(6.5)).findings() if f.claim).text
    assert texts_of(result_of())["The head"] == "It is new (encoder frozen). The encoder was frozen."
    assert "25.0" in texts_of(result_of())["Accuracy"]


def test_the_last_epoch_says_whether_an_earlier_one_was_better() -> None:
    text = texts_of(result_of(4.0))["Last epoch"]
    assert "from 3.90 to 4.00" in text and "--keep best" in text
    assert "--keep" not in texts_of(result_of(3.5))["Last epoch"]
    assert "Last epoch" not in texts_of(result_of(epochs=1))


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

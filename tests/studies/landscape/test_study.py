"""The loss around models that were trained from the same start."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertForSequenceClassification

from headscope import HeadscopeError, Settings, load, results
from headscope.corpora.tasks import Task
from headscope.outputs.losses import losses
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.report.study_page import study_page
from support.runs import landscape as run
from support.small_tasks import birds
from support.tiny import save_tiny, tiny_bert

TASK = birds(8, 12)
OPTIONS: dict[str, Any] = {"loss_examples": 12, "directions": 3, "positions": 5, "plane": 3, "loading": {}}
LABELS = {"id2label": {0: "no", 1: "yes"}, "label2id": {"no": 0, "yes": 1}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A start, and two models with a classifier."""
    folder = tmp_path_factory.mktemp("models")
    small = {"num_hidden_layers": 1, **LABELS}
    networks = [tiny_bert(seed, BertForSequenceClassification, **small) for seed in (0, 1, 2)]
    return [str(save_tiny(folder / str(number), network)) for number, network in enumerate(networks)]


@pytest.fixture(scope="module")
def result(folders: list[str]) -> xr.Dataset:
    start, tuned, other = folders
    return run(start, (TASK,), Settings(resamples=20), tuned=tuned, random=other, **OPTIONS)


def test_loss_at_the_end_of_the_line_is_that_of_the_model(result: xr.Dataset, folders: list[str]) -> None:
    results.check(result)
    model = load(folders[1], head=True)
    inputs, _ = encode_for_task(model, TASK.training(), 128)
    expected = losses("classification", torch.from_numpy(logits(model, inputs)),
                      torch.from_numpy(TASK.targets(TASK.training()))).mean()  # fmt: skip
    line = result["line_loss"].sel(init="finetuned")
    assert line["position"].values.tolist() == [-0.5, 0.0, 0.5, 1.0, 1.5]
    assert float(line.sel(position=1.0)) == pytest.approx(float(expected), abs=1e-5)
    middle = result["plane_loss"].sel(init="finetuned", first_step=0.0, second_step=0.0)
    assert float(middle) == pytest.approx(float(expected), abs=1e-5)


def test_width_is_the_mean_over_directions(result: xr.Dataset) -> None:
    widths = result["direction_width"]
    assert dict(widths.sizes) == {"init": 2, "direction_number": 3}
    np.testing.assert_allclose(result["width"], widths.mean("direction_number"))
    assert bool(((widths > 0) & (widths <= 2)).all())


def test_page_has_the_claim_the_lines_and_the_planes(result: xr.Dataset) -> None:
    steep = result["line_loss"] - 2.0 * result["position"]
    page = study_page(result.assign(line_loss=steep.transpose(*result["line_loss"].dims)))
    topics = [finding.topic for finding in page.findings()]
    assert topics[0] == "It cannot be told which model ends in a wider minimum"  # of three directions
    assert {"Line from random weights", "Width from pre-trained weights"} <= set(topics)
    assert [figure.name for figure in page.figures()] == ["line_loss", "plane_loss-finetuned", "plane_loss-random"]
    assert [table.name for table in page.tables()] == ["widths"]


def test_a_model_that_did_not_learn_has_no_minimum_to_compare(result: xr.Dataset) -> None:
    learned = result["line_loss"] - 2.0 * result["position"] * (result["init"] == "finetuned")
    first = study_page(result.assign(line_loss=learned.transpose(*result["line_loss"].dims))).findings()[0]
    assert first.topic == "The widths cannot be compared"
    assert "trained from random weights changes by" in first.text and "on a plateau" in first.text


def test_a_page_without_the_recipe_compares_the_widths(result: xr.Dataset) -> None:
    bare = result.copy()
    del bare.attrs["recipe"]
    assert study_page(bare).findings()[0].topic != "The widths cannot be compared"


def test_what_cannot_be_compared_is_refused(folders: list[str], tmp_path: Path) -> None:
    start, tuned, _ = folders
    with pytest.raises(HeadscopeError, match="no trained model is named"):
        run(start, (TASK,), **OPTIONS)
    wide = save_tiny(tmp_path / "wide", tiny_bert(0, BertForSequenceClassification, num_hidden_layers=2, **LABELS))
    with pytest.raises(HeadscopeError, match="is not that of its start; name the model"):
        run(start, (TASK,), tuned=str(wide), **OPTIONS)
    with pytest.raises(HeadscopeError, match="in another order"):
        other = Task(**{**vars(TASK), "labels": ("yes", "no")})
        run(start, (other,), tuned=tuned, **OPTIONS)

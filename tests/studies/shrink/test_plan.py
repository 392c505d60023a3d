"""What is removed without a target: a BERT becomes faster and smaller, as an ALBERT; and what the page says."""

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertForMaskedLM, BertForSequenceClassification, BertModel

import headscope
from headscope import Settings
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.size.shrink import search, study
from headscope.studies.size.shrink.plan import ShrinkOptions, plan_of
from headscope.studies.size.shrink.prices import Prices
from models.test_embedding_width import made, planted
from support.findings import all_texts_of, texts_of
from support.idle_neurons import TEXTS, idle_halves
from support.runs import shrink as run

PRICES = Prices(((1, 8),), 3, 4, (0.3,), (32, 16), ((3.0,), (2.0,)), (0.05,))
OPTIONS: dict[str, Any] = {"best_effort": True, "groups": 4, "epochs": 1}


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    """A result without a target, whose training changes nothing."""
    folder = tmp_path_factory.mktemp("default")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "measure", lambda *_: PRICES)
        patch.setattr(study, "LEARNING_RATE", 1e-12)
        return run(planted(9), headscope.read(TEXTS), Settings(resamples=20), directory=folder, **OPTIONS)


@pytest.mark.parametrize("kind", [BertModel, BertForSequenceClassification])
def test_without_a_target_a_bert_has_one_of_both_kinds_and_keeps_all_pieces(kind: type) -> None:
    model = made(kind)
    plan = plan_of(model, ShrinkOptions())
    assert plan.target.speed == 1.5 and plan.target.megabytes == pytest.approx(0.6 * megabytes(model))
    assert plan.may_go == ("neurons", "heads", "layers", "embeddings") and plan.vocabulary == 1


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (idle_halves(1), {}),
        (made(BertForMaskedLM), {}),
        (made(), {"method": "gates"}),
        (made(), {"parts": "vocabulary,layers"}),
    ],
)
def test_others_have_a_speed_alone_and_lose_pieces(model: headscope.Model, options: dict[str, Any]) -> None:
    plan = plan_of(model, ShrinkOptions(**options))
    assert (plan.target.speed, plan.target.megabytes, plan.vocabulary) == (1.5, None, 0.6)
    assert plan.kinds == (("layers",) if "parts" in options else ("neurons", "heads", "layers"))


def test_a_target_of_ones_own_keeps_the_class_and_given_options_stay() -> None:
    plan = plan_of(made(), ShrinkOptions(size="50%"))
    assert plan.target.speed is None and plan.kinds == ("neurons", "heads", "layers") and plan.vocabulary == 0.6
    assert plan_of(made(), ShrinkOptions(size="50%", parts="neurons, embeddings")).vocabulary == 1


@pytest.mark.thorough
def test_the_default_has_60_percent_of_the_parameters_and_the_page_says_what_loads_it(default: xr.Dataset) -> None:
    known, said = json.loads(default.attrs["shrinking"]), all_texts_of(default)
    assert known["parameters"][1] <= 0.6 * known["parameters"][0] and known["speeds"][-1] >= 1.5
    assert known["model_class"] == ["BertModel", "AlbertModel"] and known["pieces"][0] == known["pieces"][1]
    assert "an ordinary AlbertModel" in said["What was removed"]


@pytest.mark.thorough
def test_the_page_says_that_no_epoch_was_better_and_where_sizes_end(default: xr.Dataset) -> None:
    untrained = "the saved model is untrained"
    assert untrained in texts_of(default)["How it was trained"]
    known = json.loads(default.attrs["shrinking"])
    changed = default.assign_attrs(shrinking=json.dumps(known | {"trained": True}))
    assert untrained not in texts_of(changed)["How it was trained"]
    sizes = default["megabytes"].values
    for share, ends in ((sizes[-1] / sizes[0], True), (1.0, False)):
        shown = default.assign(needed_share=default["needed_share"].copy(data=np.float64(share)))
        assert ("No smaller size was tested on these examples." in texts_of(shown)["How small it may be"]) == ends

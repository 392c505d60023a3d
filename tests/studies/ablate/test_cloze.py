"""Heads disabled on a suite: scores of items without each head, by phenomenon, as full passes and `cloze` give them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertForMaskedLM, GPT2LMHeadModel

import headscope
from headscope import HeadscopeError, Settings
from headscope.corpora.tasks import Task, read
from headscope.models import heads
from headscope.outputs.words.item_inputs import item_inputs
from headscope.outputs.words.predictor import WordPredictor, text_scores
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import model_of
from headscope.report.parts import HeadKind
from headscope.report.study_page import study_page
from support.findings import all_texts_of
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

QUICK = Settings(resamples=20)
SIZES: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2}
ITEMS = [
    *(
        {"sentence": f"the {noun} [MASK] here.", "answer": "was", "alternatives": ["were"], "phenomenon": "agreement"}
        for noun in ("cat", "dog", "book", "house")
    ),
    *(
        {"good": f"he saw the {noun}.", "bad": [f"he saw {noun} the.", f"saw he the {noun}."], "phenomenon": "order"}
        for noun in ("tree", "river", "bird")
    ),
    {"sentence": "the river is [MASK].", "answer": "old", "phenomenon": "facts"},
]


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(0, BertForMaskedLM, **SIZES), tiny_tokenizer())


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    path = tmp_path_factory.mktemp("suite") / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in ITEMS), encoding="utf-8")
    return read(f"cloze:{path}", None)


@pytest.fixture(scope="module")
def result(model: headscope.Model, task: Task, tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    return headscope.ablate(model, task, QUICK, directory=tmp_path_factory.mktemp("ablated"))  # type: ignore[return-value]


def margins(model: headscope.Model, task: Task) -> np.ndarray:
    """The margin of each item with alternatives, scored text by text."""
    items = [item for item in task.items if item.bad]
    predictor, found = WordPredictor(model), []
    for item in items:
        good, *bad = text_scores(predictor, item.candidates, QUICK).values.tolist()
        found.append(good - max(bad))
    return np.array(found)


def test_scores_without_each_head_are_those_of_full_passes(
    model: headscope.Model, task: Task, result: xr.Dataset
) -> None:
    unablated = margins(model, task)
    assert float(result["baseline"].sel(metric="margin")) == pytest.approx(unablated.mean(), abs=1e-4)
    assert float(result["baseline"].sel(metric="accuracy")) == pytest.approx((unablated > 0).mean())
    assert result.attrs["sweep"].startswith("from the layer of the disabled head")
    for layer, head in ((1, 1), (2, 2)):
        with model.changed(heads.parse(f"{layer}-{head}", model.capture.heads)):
            without = margins(model, task)
        labels = {"layer": layer, "head": head}
        assert float(result["head_score"].sel(labels | {"metric": "margin"})) == pytest.approx(without.mean(), abs=1e-4)
        for phenomenon, part in (("agreement", slice(4)), ("order", slice(4, 7))):
            gain = result["phenomenon_gain"].sel(labels | {"phenomenon": phenomenon})
            assert float(gain) == pytest.approx((without[part] > 0).mean() - (unablated[part] > 0).mean())
            gain = result["phenomenon_margin_gain"].sel(labels | {"phenomenon": phenomenon})
            assert float(gain) == pytest.approx(without[part].mean() - unablated[part].mean(), abs=1e-4)


def test_phenomena_have_accuracies_intervals_and_tests(result: xr.Dataset) -> None:
    assert result["phenomenon"].values.tolist() == ["agreement", "order"]
    assert result["phenomenon_gain_n_examples"].values.tolist() == [4, 3]
    assert result["phenomenon_baseline_ci"].dims == ("phenomenon", "bound")
    assert result["phenomenon_gain_ci"].dims == ("layer", "head", "phenomenon", "bound")
    assert bool((result["phenomenon_q_value"] >= result["phenomenon_p_value"] - 1e-12).all())
    assert result.attrs["n_examples"] == 7 and result.attrs["task"] == "cloze:mine"
    assert json.loads(result.attrs["skipped"]) == {"without alternatives": 1}
    assert "importance" not in result


def test_page_and_cards_name_the_phenomena_that_need_a_head(result: xr.Dataset) -> None:
    planted = result.copy(deep=True)
    labels = {"layer": 2, "head": 1, "phenomenon": "order"}
    planted["phenomenon_gain"].loc[labels], planted["phenomenon_q_value"].loc[labels] = -0.5, 0.01
    planted["phenomenon_gain_ci"].loc[labels] = [-0.7, -0.3]
    assert study_page(planted).highlights()[0].topic.startswith("The task is not learned"), "of so few items"
    for name in ("baseline_n_examples", "phenomenon_gain_n_examples"):
        planted[name] = xr.full_like(planted[name], 40)
    planted["baseline"].loc[{"metric": "accuracy"}] = 0.9
    planted["baseline_ci"].loc[{"metric": "accuracy"}] = [0.8, 1.0]
    texts = all_texts_of(planted)
    assert "order (" in texts["1 of 2 phenomena need a single head beyond chance"]
    assert "2-1" in texts["1 of 2 phenomena need a single head beyond chance"]
    sentences = {name: _needed(planted, *at) for name, at in {"2-1": (2, 1), "1-2": (1, 2)}.items()}
    assert "order -50.0 [-70.0, -30.0] (q 0.01); 1 of the 2 phenomena" in sentences["2-1"]
    assert sentences["1-2"] == "None of the 2 phenomena of cloze:mine."
    assert float(result["chance"].sel(metric="accuracy")) == pytest.approx((4 / 2 + 3 / 3) / 7)
    assert HeadKind(2, 1, "needed", "order") in set(study_page(planted).kinds()) - set(study_page(result).kinds())


def _needed(result: xr.Dataset, layer: int, head: int) -> str:
    (part,) = Card(model_of(result), layer, head).parts
    (text,) = [finding.text for finding in part.findings if finding.topic == "Needed for"]
    return text


def test_causal_models_and_shared_inputs_have_the_same_scores(task: Task) -> None:
    model = headscope.wrap(tiny_gpt2(0, GPT2LMHeadModel), tiny_tokenizer())
    inputs = item_inputs(model, task.items)
    batch = inputs.batch(inputs.inputs)
    network: Any = model.network
    scores = inputs.item_scores(batch.outputs(network(**batch.inputs).logits.detach()))
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], margins(model, task), atol=1e-4)
    masked = item_inputs(headscope.wrap(tiny_bert(0, BertForMaskedLM, **SIZES), tiny_tokenizer()), task.items)
    assert sum(len(positions) == 2 for positions in masked.places) == 4  # was and were are read off one input
    assert masked.batch(masked.inputs).rows.shape[1] == 1


def test_what_cannot_be_compared_is_refused(model: headscope.Model, task: Task, tmp_path: Path) -> None:
    bare = headscope.wrap(tiny_bert(0, **SIZES), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match="without a head that predicts words"):
        headscope.ablate(bare, task, QUICK, directory=tmp_path)
    with pytest.raises(HeadscopeError, match=r"no item of the suite can be scored \(1 without alternatives\)"):
        item_inputs(model, task.items[-1:])
    with pytest.raises(HeadscopeError, match="task 'cloze:mine' compares texts; only 'ablate' disables heads on it"):
        headscope.gradients(model, task.dev, QUICK, task=task)

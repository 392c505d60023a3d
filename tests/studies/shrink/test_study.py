"""A smaller model from texts and for a task: what is planted is found, and the folder answers as the result says."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import AutoModel, AutoTokenizer, BertForSequenceClassification

import headscope
from headscope import HeadscopeError, Model, Settings
from headscope.report.study_page import study_page
from headscope.studies.size.shrink import study
from headscope.studies.size.shrink.original import original_of
from headscope.studies.size.shrink.texts import encode, split
from headscope.studies.size.shrink.vocabulary import pieces_to_keep
from support.idle_neurons import TEXTS, even, idle, judge_by_embeddings
from support.planted_task import planted_classifier, planted_task
from support.runs import shrink as run
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=50)


def tiny(seed: int = 0) -> Model:
    """A tiny encoder."""
    return headscope.wrap(tiny_bert(seed), tiny_tokenizer())


def facts(result: xr.Dataset) -> dict[str, Any]:
    """The sizes of a result."""
    return json.loads(result.attrs["shrinking"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, xr.Dataset]:
    """A folder and its result: one epoch."""
    folder = tmp_path_factory.mktemp("shrunk")
    options: dict[str, Any] = {"size": "0.035MB", "epochs": 1, "groups": 4}
    return folder, run(tiny(), headscope.read(TEXTS), QUICK, directory=folder, **options)


def test_neurons_that_do_nothing_go_first_and_cost_nothing(tmp_path: Path) -> None:
    model = idle()
    maps = original_of(model, encode(model, tuple(headscope.read(TEXTS))), QUICK)
    kept = maps.kept(even((0, 1, 2), 16, 4)).neurons
    assert kept == (tuple(range(0, 32, 2)),) * 3
    inputs, judge = encode(model, tuple(headscope.read(TEXTS[:6]))), judge_by_embeddings(model, QUICK)
    after = judge.outputs(maps.cut(even((0, 1, 2), 16, 4)), inputs)
    np.testing.assert_allclose(after, judge.outputs(model, inputs), atol=1e-5)


def test_target_is_met_by_an_ordinary_model_that_scores_as_the_result_says(made: tuple[Path, xr.Dataset]) -> None:
    folder, result = made
    known = facts(result)
    assert known["reached"] and known["megabytes"][1] <= 0.035 < known["megabytes"][0]
    network, tokenizer = AutoModel.from_pretrained(folder / "model"), AutoTokenizer.from_pretrained(folder / "model")
    assert sum(weight.numel() for weight in network.parameters()) == known["parameters"][1]
    assert len(tokenizer) == known["pieces"][1] < known["pieces"][0]
    np.testing.assert_allclose(result["reloaded_score"], result["shrunk_score"], atol=1e-5)
    assert list(result["metric"].values) == ["similarity_agreement", "nearest_recall"]
    assert float(result["path_score"].sel(metric="similarity_agreement")[0]) == pytest.approx(1)
    assert not list(folder.glob(".headscope.shrink"))
    card = (folder / "model" / "README.md").read_text()
    assert "| similarity agreement (Spearman) | 1.000 |" in card and "| parameters |" in card


def test_page_names_what_is_gone_and_says_no_nan(made: tuple[Path, xr.Dataset]) -> None:
    _, result = made
    page = study_page(result)
    said = [f"{one.topic} {one.text}" for one in (*page.highlights(), *page.findings())]
    assert any("of the parameters" in one for one in said) and any("times as fast" in one for one in said)
    assert any("pieces of the vocabulary" in one for one in said) and not any("nan" in one for one in said)
    assert page.figures()[0].name == "path_score"
    tables = {table.name: table for table in page.tables()}
    assert len(tables["steps"].rows) == result.sizes["step"]
    forms, timed = tables["forms"], facts(result)["timed"]
    assert forms.headline and [labels[0] for labels, _ in forms.rows] == ["whole", "float32", "bfloat16"]
    assert [cell[0] for cell in forms.rows[1][1] if cell][-1] == f"{timed[-1]['after']:.1f}"
    assert tables["changed"].columns[0].words == "Other text" and 0 < len(tables["changed"].rows) <= 10


def test_what_to_do_next_is_a_size_that_was_measured(made: tuple[Path, xr.Dataset]) -> None:
    _, result = made
    sizes = result["megabytes"].values
    lost = result.assign(shrunk_gain=result["shrunk_gain"] * 0 - 0.5, shrunk_gain_ci=result["shrunk_gain_ci"] * 0 - 0.5)
    kept = lost["needed_share_ci"].copy(data=[sizes[1] / sizes[0]] * 2)
    for share, topic in (
        (kept, f"--size {math.ceil(100 * sizes[1] / facts(result)['megabytes'][0])}%"),
        (kept * 0 + 1, "more"),
    ):
        (said,) = [one for one in study_page(lost.assign(needed_share_ci=share)).highlights() if "Next" in one.topic]
        assert f"Next: {topic}" in said.topic and "more --epochs than 1" in said.text


def test_training_lowers_the_change_of_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "LEARNING_RATE", 5e-3)
    options: dict[str, Any] = {"size": "0.045MB", "groups": 4, "parts": "neurons,heads,layers"}
    texts = headscope.read(TEXTS)
    without = run(tiny(), texts, QUICK, directory=tmp_path / "without", epochs=0, **options)
    trained = run(tiny(), texts, QUICK, directory=tmp_path / "trained", epochs=8, **options)
    agreement = [float(one["shrunk_score"].sel(metric="similarity_agreement")) for one in (without, trained)]
    assert agreement[1] > agreement[0] + 0.02
    np.testing.assert_allclose(trained["path_score"], without["path_score"], atol=1e-6)


def test_task_is_searched_on_train_and_scored_on_dev(tmp_path: Path) -> None:
    model = headscope.wrap(planted_classifier(), tiny_tokenizer())
    task = planted_task(60, 80)
    options: dict[str, Any] = {"size": "0.001MB", "best_effort": True, "groups": 2, "epochs": 0}
    result = run(model, task.dev, QUICK, directory=tmp_path, task=task, **options)
    assert result.sizes["layer"] == 2 and float(result["shrunk_score"].sel(metric="accuracy")) == 1
    assert result["layer_heads"].isel(step=-1).values.tolist() == [0, 4]  # the head that decides is in layer 2
    assert not facts(result)["reached"] and "chance" in result
    loaded = BertForSequenceClassification.from_pretrained(tmp_path / "model")
    assert loaded.config.id2label == {0: "no", 1: "yes"}


def test_task_without_held_out_data_is_refused(tmp_path: Path) -> None:
    model = headscope.wrap(planted_classifier(), tiny_tokenizer())
    task = planted_task(20)
    task = replace(task, train=None)
    with pytest.raises(HeadscopeError, match=r"has no held-out data: .* add a train split"):
        run(model, task.dev, QUICK, directory=tmp_path, task=task)


def test_a_model_that_nobody_could_score_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        HeadscopeError, match=r"its held-out texts, 2, are too few .* give 25 texts or more, or save it"
    ):
        run(tiny(), headscope.read(TEXTS[:10]), QUICK, directory=tmp_path, size="0.035MB", epochs=0)
    assert not (tmp_path / "model").exists()


def test_splits_do_not_meet_and_depend_on_the_seed() -> None:
    model, corpus = tiny(), headscope.read(TEXTS)
    parts = split(model, corpus, None, 0)
    ids = [{example.id for example in some} for some in (parts.training, parts.stopping, parts.held_out)]
    assert sum(map(len, ids)) == len(TEXTS) == len(set.union(*ids)) and len(ids[2]) == round(0.2 * len(TEXTS))
    assert split(model, corpus, None, 1).held_out != parts.held_out


def test_pieces_of_the_texts_stay() -> None:
    model = tiny()
    inputs = encode(model, tuple(headscope.read(TEXTS)))
    kept = pieces_to_keep(model, inputs, 0.0)
    assert kept is not None and {number for one in inputs for number in one.inputs["input_ids"].tolist()} <= set(kept)
    assert pieces_to_keep(model, inputs, 1.0) is None

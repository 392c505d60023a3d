"""A survey of two models: a portrait of each, and first what differs."""

import json
from pathlib import Path

import numpy as np
import pytest

from headscope import results
from headscope.errors import HeadscopeError
from headscope.front.cli.survey import is_model, split
from headscope.papers import judge, read_papers
from headscope.papers.across_models import differences
from headscope.report.cards.model_results import models_in
from headscope.report.page import MARK
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert

pytestmark = pytest.mark.usefixtures("empty_study_pages")

FEW = ("--limit", "24", "--resamples", "20", "--no-figures")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("models")
    return [save_tiny(directory / name, tiny_bert(seed=seed)) for seed, name in enumerate(("first", "second"))]


@pytest.fixture(scope="module")
def folder(models: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("two")
    ended = run_command("survey", *models, "sample", "--only", "profile", *FEW, "-o", out)
    assert ended.exit_code == 0, ended.output
    assert f"{models[0]} and {models[1]}: " in ended.stdout and f"portrait: {out / 'index.html'}" in ended.stdout
    return out


def test_words_are_models_or_corpora(models: list[Path], tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    assert is_model(str(models[0])) and is_model("google-bert/bert-base-cased")
    for word in ("sample", "texts.txt", "wiki.raw", "treebank.conllu.gz", "gap:x.tsv", "-", str(tmp_path / "texts")):
        assert not is_model(word)
    with pytest.raises(HeadscopeError, match="model 'minilm' is given twice"):
        split(["minilm", "minilm"])


def test_each_model_has_its_portrait_and_both_have_one(folder: Path) -> None:
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert html.index("What differs") < html.index("All heads at a glance")
    assert 'href="first/profile/report.html"' in html and 'href="second/profile/report.html"' in html
    for name in ("first", "second"):
        assert "What differs" not in (folder / name / "index.html").read_text(encoding="utf-8")
    (folder / "index.html").write_bytes(MARK)
    run_command("report", folder, "--no-figures")
    assert "What differs" in (folder / "index.html").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_json_has_results_by_model(models: list[Path], folder: Path) -> None:
    words = ("survey", *models, "sample", "--only", "profile", *FEW, "-o", folder, "--json")
    printed = json.loads(run_command(*words).stdout)
    assert [list(studies) for studies in printed["results"].values()] == [["profile"], ["profile"]]
    assert len(printed["models"]) == 2


def test_two_runs_of_one_model_do_not_differ_and_a_planted_change_is_found(folder: Path) -> None:
    one = results.read(folder / "first" / "profile")
    other = one.copy(deep=True).assign_attrs(model="changed", model_sha256="12" * 32)
    assert not any(found(one, other)[part] for part in ("claims", "heads", "layers"))
    head = {"layer": 2, "head": 1, "offset": -1}
    other["attention_offset"].loc[head] = 0.95
    other["attention_offset_ci"].loc[head] = [0.94, 0.96]
    changed = found(one, other)
    assert [row["id"] for row in changed["claims"]] == ["C1"]
    name, _, after = changed["heads"][0]
    assert name == "2-1" and "previous" in after


def test_layers_are_compared_by_the_interval_of_the_difference(made_layers) -> None:
    one, other = made_layers
    (change,) = found(one, other)["layers"]
    assert (change.gained, change.lost) == ((2,), (1,)) and change.text == "layer 2 gained; layer 1 lost"
    wide = other.copy(deep=True)
    wide["anisotropy_ci"] = wide["anisotropy_ci"] + np.array([-0.9, 0.9])
    assert not found(one, wide)["layers"]


@pytest.fixture
def made_layers(models: list[Path], tmp_path: Path):
    run_command("geometry", models[0], "sample", *FEW, "-o", tmp_path)
    one = results.read(tmp_path)
    other = one.copy(deep=True).assign_attrs(model="changed", model_sha256="12" * 32)
    for result, values in ((one, [0.5, 0.5, 0.5]), (other, [0.3, 0.7, 0.5])):
        bounds = np.array(values)[:, None] + np.array([-0.05, 0.05])
        result["anisotropy"] = (("layer",), values)
        result["anisotropy_ci"] = (("layer", "bound"), bounds)
    return one, other


def test_results_of_other_corpora_are_not_compared(folder: Path) -> None:
    one = results.read(folder / "first" / "profile")
    other = one.assign_attrs(model="changed", model_sha256="12" * 32, corpus_sha256="0")
    assert found(one, other)["shared"] == []


def found(one, other):
    judged = [
        (model, judge(model, read_papers()))
        for model in models_in({Path("1/result.nc"): one, Path("2/result.nc"): other})
    ]
    return differences(judged)

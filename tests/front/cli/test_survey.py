"""The command `survey` and `headscope.survey`: the plan, the results of separate commands, the portrait."""

import json
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headscope
from headscope import catalog
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.survey_run import _given
from headscope.front.survey.plan import CorpusFacts, PlannedStudy, facts_of, planned
from headscope.passes import shared_pass
from headscope.report.page import MARK
from headscope.studies.words.attributions.study import run as attributions_run
from support.cli import run_command
from support.tiny import save_tiny

pytestmark = pytest.mark.usefixtures("empty_study_pages")

FEW = ("--limit", "12", "--resamples", "20", "--no-figures")
RAY = ["--workers", "2", "--engine", "ray"]
TREES = CorpusFacts("treebank.conllu", 9, frozenset({"text", "treebank", "links"}))
TEXT = CorpusFacts("texts.txt", 9, frozenset({"text"}))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def folder(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey of three studies."""
    out = tmp_path_factory.mktemp("survey")
    ended = run_command("survey", model, "sample", "--only", "profile,syntax,clusters", *FEW, "-o", out)
    assert ended.exit_code == 0, ended.output
    assert "1 of 3: profile" in ended.stderr and f"portrait: {out / 'index.html'}" in ended.stdout
    return out


def test_every_study_is_planned_or_named_with_what_it_needs() -> None:
    plans = {plan.study: plan for plan in planned([TEXT, TREES], task=False)}
    assert plans.keys() == set(catalog.names("studies"))
    assert plans["profile"].corpora == (TEXT,) and plans["syntax"].corpora == (TREES,)
    assert plans["patterns"].corpora == (TEXT, TREES)
    assert "mentions" in plans["coreference"].lacks and "--task" in plans["ablate"].lacks
    assert not {plan.study: plan for plan in planned([TEXT], task=True)}["prune"].lacks


def test_a_corpus_is_known_by_what_its_sentences_have() -> None:
    sample = headscope.read("sample")
    assert facts_of("sample", sample, len(sample)).features == {"text", "treebank", "links", "mentions"}
    assert facts_of("texts", headscope.read(["It rained."]), 1).features == {"text"}


def test_the_plan_is_printed_and_nothing_runs(model: Path, tmp_path: Path) -> None:
    printed = run_command("survey", model, "--plan", "-o", tmp_path / "out").stdout
    assert "profile" in printed and "suites of sentences" in " ".join(printed.split())
    listed = json.loads(run_command("survey", model, "--plan", "--json").stdout)["plan"]
    assert {one["study"] for one in listed if one["runs"]} >= {"profile", "syntax", "probe"}
    assert not (tmp_path / "out").exists()


def test_the_plan_in_python_is_that_of_the_command(model: Path) -> None:
    listed = json.loads(run_command("survey", model, "--plan", "--json").stdout)["plan"]
    plan = headscope.survey_plan(str(model)).astype(object)
    assert plan.where(plan.notna(), None).to_dict("records") == [{"seconds": None, "mib": None} | row for row in listed]
    assert plan.equals(headscope.survey_plan(headscope.load(str(model)), "sample").astype(object))
    with pytest.raises(headscope.HeadscopeError, match="did you mean 'profile'"):
        headscope.survey_plan("minilm", only=["profil"])


def test_the_plan_says_what_full_adds(tmp_path: Path) -> None:
    texts = tmp_path / "long.txt"
    texts.write_text("\n".join(["They read a long book about rivers, and slept. " * 5] * 60), encoding="utf-8")
    said = {
        words: json.loads(run_command("survey", "minilm", texts, "--plan", "--json", *words).stdout)["plan"]
        for words in ((), ("--full",))
    }
    some, full = ({row["study"]: row for row in plan}["attributions"] for plan in said.values())
    assert "3 are scored; 50 with --full" in some["reads"] and "--full" not in full["reads"]
    assert full["seconds"] > some["seconds"]


def test_the_portrait_links_studies_and_is_written_again(folder: Path) -> None:
    page = folder / "index.html"
    html = page.read_text(encoding="utf-8")
    for words in ('href="profile/report.html"', 'href="heads.html"', "Claims of the papers", "All heads at a glance"):
        assert words in html
    page.write_bytes(MARK)
    ended = run_command("report", folder, "--no-figures")
    assert ended.stdout.splitlines()[-1] == str(page)
    assert "Claims of the papers" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["index.html", "heads.html", "profile/report.html"])
def test_a_page_of_somebody_else_stays_and_is_named(folder: Path, tmp_path: Path, name: str) -> None:
    page = Path(shutil.copytree(folder, tmp_path / "out")) / name
    page.write_text("<title>Mine</title>", encoding="utf-8")
    ended = run_command("report", tmp_path / "out", "--again", "--no-figures")
    assert ended.exit_code == 2 and f"'{page}' is no page of headscope and stays; move it" in ended.stderr
    assert page.read_text(encoding="utf-8") == "<title>Mine</title>"


def test_a_study_that_refuses_is_left_out_and_said(model: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("It rained.\nWe slept.\n", encoding="utf-8")
    words = ("survey", model, tmp_path / "texts.txt", "--resamples", "20", "--no-figures", "-o", tmp_path / "out")
    ended = run_command(*words, "--only", "profile,syntax", "--json")
    printed = json.loads(ended.stdout)
    assert list(printed["results"]) == ["profile"] and printed["left_out"]["syntax"].startswith("needs a treebank")
    refused = run_command(*words, "--only", "syntax")
    assert refused.exit_code == 2 and refused.stderr.startswith("headscope: no study could be run")
    unknown = run_command(*words, "--only", "profil")
    assert unknown.exit_code == 2 and "did you mean 'profile'" in unknown.stderr


def attributions_by(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.studies.words.attributions.study.run", wraps(attributions_run)(run))


def test_a_study_that_breaks_is_said_and_the_others_run(model: Path, tmp_path: Path, monkeypatch) -> None:
    attributions_by(lambda *_, **__: [][9], monkeypatch)
    words = ("survey", model, "sample", "--only", "attributions,profile", *FEW, "-o", tmp_path / "out")
    ended = run_command(*words)
    assert ended.exit_code == 1
    line = "it ended with IndexError: list index out of range; run it alone to see where"
    assert line in ended.output and (tmp_path / "out" / "profile" / "report.html").is_file()
    with pytest.warns(UserWarning, match=f"leaves out attributions: {line}"):
        made = headscope.survey(str(model), headscope.read("sample", limit=6), only=["attributions", "profile"])
    assert list(made) == ["profile"]


def test_ctrl_c_in_a_study_ends_the_survey(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attributions_by(lambda *_, **given: attributions_run(*_, **given).assign_attrs(interrupted="3 of 12"), monkeypatch)
    words = ("survey", model, "sample", "--only", "profile,attributions", *FEW, "--limit", "2", "-o", tmp_path / "out")
    ended = run_command(*words)
    assert ended.exit_code == 130 and "it ended with" not in ended.output
    assert not (tmp_path / "out" / "portrait.html").exists()


def test_in_python_the_results_come_by_name(model: Path) -> None:
    corpus, name = headscope.read("sample", limit=12), str(model)
    made = headscope.survey(name, corpus, only=["profile", "syntax"], resamples=20)
    alone = headscope.profile(name, corpus, resamples=20)
    assert list(made) == ["profile", "syntax"]
    assert np.array_equal(made["profile"]["entropy"], alone["entropy"])
    assert made["profile"].drop_attrs().identical(alone.drop_attrs())
    assert set(headscope.claims(made)["verdict"]) >= {"not measured"}
    with pytest.raises(headscope.HeadscopeError, match="no study could be run"):
        headscope.survey(name, ["It rained."], only=["syntax"])


def test_in_python_studies_share_a_pass(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = list[int]()
    kept = shared_pass.read_together
    monkeypatch.setattr(shared_pass, "read_together", lambda group, run: (groups.append(len(group)), kept(group, run)))
    corpus = headscope.read("sample", limit=12)
    options: dict[str, Any] = {"resamples": 20, "examples": 0, "seed": 3}
    made = headscope.survey(str(model), corpus, only=["profile", "patterns", "clusters", "coreference"], **options)
    assert groups == [3] and list(made) == ["profile", "coreference", "clusters", "patterns"]
    for study, result in made.items():
        alone = getattr(headscope, study)(str(model), corpus, **options)
        assert result.drop_attrs().identical(alone.drop_attrs()), study


def test_in_python_full_reaches_the_studies_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}
    monkeypatch.setattr(shared_pass, "read_shared", asked.update)
    monkeypatch.setattr("headscope.front.api.study", lambda name: lambda *given, **options: options)
    corpus = headscope.read("sample", limit=5)
    made = headscope.survey("minilm", corpus, only=["profile", "probe", "structure"], full=True)
    assert {name: given.get("full") for name, given in asked.items()} == {
        "profile": None,
        "structure": True,
        "probe": True,
    }
    assert {name: options.get("full") for name, options in made.items()} == {
        "profile": None,
        "structure": True,
        "probe": True,
    }


def test_full_reaches_the_studies_that_have_it() -> None:
    given = DEFAULTS | {"full": True, "model": "m", "engine": "ray", "workers": 2}
    words = {name: _given(PlannedStudy(name), given) for name in ("probe", "profile")}
    assert words == {"probe": ["--full", *RAY], "profile": RAY}

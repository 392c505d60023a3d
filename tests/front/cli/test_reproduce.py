"""The command `reproduce`: the plan, the runs, what is missing, the page, and Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import headscope
from headscope import results
from headscope.front.reproduction_plan import planned
from headscope.papers.reproduction import papers, read_reproduction
from headscope.report.page import MARK
from support.cli import run_command
from support.closed import closed
from support.tiny import save_tiny

pytestmark = pytest.mark.usefixtures("empty_study_pages")

TEXT = " The rain fell on the roof all night .\n\n We slept , and the cat did not .\n\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with paragraphs alone."""
    directory = tmp_path_factory.mktemp("data")
    (directory / "wikitext").mkdir()
    (directory / "wikitext" / "wiki.test.raw").write_text(TEXT * 12, encoding="utf-8")
    return directory


@pytest.fixture(scope="module")
def folder(model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction of the runs that read paragraphs."""
    out = tmp_path_factory.mktemp("out") / "clark2019"
    words = ("reproduce", "clark2019", model, "--data", data, "--limit", "8", "--resamples", "20", "--no-figures")
    ended = run_command(*words, "-o", out)
    assert ended.exit_code == 0, ended.output
    assert f"page: {out / 'reproduction.html'}" in ended.stdout and "Section 3.1" in ended.stdout
    assert "not run: syntax: needs the dev or test part" in ended.stdout
    assert "surface: headscope profile\n" in ended.stderr
    return out


def test_the_plan_runs_nothing_and_names_what_is_missing(model: Path, data: Path, tmp_path: Path) -> None:
    words = ("reproduce", "clark2019", model, "--data", data, "--plan", "-o", tmp_path / "out")
    printed = " ".join(run_command(*words).stdout.split())
    assert "surface" in printed and "Penn Treebank" in printed
    plan = {one["run"]: one for one in json.loads(run_command(*words, "--json").stdout)["plan"]}
    assert plan["surface"]["runs"] and "LDC2013T19" in plan["coreference"]["lacks"]
    assert not (tmp_path / "out").exists()


def test_the_numbers_are_those_of_the_study(model: Path, data: Path, folder: Path, tmp_path: Path) -> None:
    options = ("--kind", "paragraphs", "--limit", "8", "--resamples", "20", "--no-figures")
    run_command("profile", model, data / "wikitext" / "wiki.test.raw", *options, "-o", tmp_path)
    alone, made = results.read(tmp_path), results.read(folder / "surface")
    assert alone.drop_attrs().identical(made.drop_attrs())
    frame = headscope.reproduce("clark2019", model, data=data, directory=folder, limit=8, resamples=20, no_figures=True)
    last = frame[(frame["where"] == "Section 3.3")].iloc[0]
    assert np.isclose(last["value"], float(alone["cls_entropy"].isel(layer=-1).mean())) and last["paper"] == "3.89"


def test_the_page_is_made_again_without_the_runs(folder: Path) -> None:
    page = folder / "reproduction.html"
    page.write_bytes(MARK)
    ended = run_command("report", folder, "--no-figures")
    assert ended.stdout.splitlines()[-1] == str(page) and "What was hard" in page.read_text(encoding="utf-8")


def test_refusals_are_one_line_with_a_remedy(model: Path, data: Path, tmp_path: Path) -> None:
    for words, line in {
        ("reproduce", "clark", model): "paper 'clark' is unknown; did you mean 'clark2019'?",
        ("reproduce", "hewitt2019", model, "--data", data): "no run of 'hewitt2019' has its data",
        ("reproduce", "hewitt2019", model): "name its folder with --data",
        (
            "reproduce",
            "clark2019",
            model,
            "--data",
            tmp_path / "no",
        ): "does not exist; name the folder of the data sets",
    }.items():
        refused = run_command(*words, "-o", tmp_path / "out")
        assert refused.exit_code == 2 and refused.stderr.count("\n") == 1 and line in refused.stderr


@pytest.mark.parametrize(("which", "status"), [("clark2019", 1), ("--all", 2)])  # without any result: no certificate
def test_a_run_whose_file_is_closed_is_named(which: str, status: int, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "en_ewt-ud-dev.conllu"
    file.write_text("", encoding="utf-8")
    with closed(file):
        ended = run_command("reproduce", which, model, "--data", tmp_path, "-q", "-o", tmp_path / "out")
    assert ended.exit_code == status and f"clark2019, syntax: corpus '{file}' cannot be read" in ended.stderr


@pytest.mark.parametrize("paper", papers())
def test_every_run_is_a_command_of_its_study(paper: str, real_data: Path, tmp_path: Path) -> None:
    from headscope.front.cli.study import parsed

    for plan in planned(read_reproduction(paper), "minilm", real_data, tmp_path, 20):
        assert not plan.lacks
        if plan.run.study == "join":
            assert plan.words[1:] == tuple(str(tmp_path / run) for run in plan.run.results.values())
        else:
            parsed(plan.run.study, plan.words)


def test_a_model_that_was_not_trained_is_not_read(data: Path, tmp_path: Path) -> None:
    plans = {one.run.name: one for one in planned(read_reproduction("michel2019"), "minilm", data, tmp_path)}
    assert "GLUE" in plans["tuned"].lacks and "GLUE" in plans["heads"].lacks


def test_a_run_beside_another_reads_its_result_and_keeps_a_seed_of_its_own(data: Path, tmp_path: Path) -> None:
    from headscope.front.reproduction import _options

    glue = tmp_path / "glue" / "MRPC"
    glue.mkdir(parents=True)
    (glue / "dev.tsv").write_text("", encoding="utf-8")
    entry = read_reproduction("prasanna2020")
    plans = {one.run.name: one for one in planned(entry, "minilm", tmp_path, tmp_path / "out")}
    words = plans["heads"].words
    assert words[words.index("--beside") + 1] == str(tmp_path / "out" / "other_heads")
    assert _options(plans["seeds"], {"seed": 7, "resamples": 50}) == ["--resamples", "50"]
    assert _options(plans["pruned"], {"seed": 7}) == ["--seed", "7"]
    assert plans["pruned_4"].words[1] == str(tmp_path / "out" / "seeds" / "models" / "MRPC-finetuned-4-0")
    assert plans["prunings"].words[:2] == ("join", str(tmp_path / "out" / "pruned"))
    assert "--no-baselines" in plans["seeds"].words


def test_all_papers_are_planned_with_time_and_space_and_nothing_runs(model: Path, data: Path, tmp_path: Path) -> None:
    words = ("reproduce", "--all", "bert-base-uncased", "--data", data, "-o", tmp_path / "out", "--plan")
    printed = json.loads(run_command(*words, "--json").stdout)
    runs = {(one["paper"], one["run"]): one for one in printed["plan"]}
    assert {paper for paper, _ in runs} == set(papers()) and not (tmp_path / "out").exists()
    profile, trained = runs["clark2019", "surface"], runs["prasanna2020", "seeds"]
    assert profile["runs"] and profile["seconds"] > 0 and profile["memory"] > 800
    assert not trained["runs"] and trained["seconds"] == 0 and "needs the tasks of GLUE" in trained["reads"]
    assert printed["seconds"] == pytest.approx(sum(one["seconds"] for one in runs.values()))
    assert "the shape of BERT-base is assumed. Nothing was run." in run_command(*words).stdout
    refused = run_command("reproduce", "--all", "clark2019", model, "--plan")
    assert refused.exit_code == 2 and "name no paper" in refused.stderr


def test_the_cost_of_a_run_grows_with_texts_trainings_and_the_model(tmp_path: Path) -> None:
    from headscope.front.reproduction_plan import ASSUMED, PlannedRun, estimate
    from headscope.papers.reproduction import Run

    def cost(study: str, lines: int, limit: int | None = None, **options: object) -> float:
        texts = tmp_path / f"{lines}.txt"
        texts.write_text("The cat slept on the mat all day.\n" * lines, encoding="utf-8")
        return estimate(PlannedRun(Run("x", study, options=options), (study, "m", str(texts))), ASSUMED, limit).seconds

    one = cost("profile", 100)
    assert cost("profile", 1000) - 1 == pytest.approx(10 * (one - 1))  # a second is not of the texts
    assert cost("profile", 1000, 100) == pytest.approx(one) == pytest.approx(cost("profile", 1000, limit=100))
    once, twice, thrice = (cost("finetune", 1000, weight_seeds=seeds) for seeds in (1, 2, 3))
    assert twice - once == pytest.approx(thrice - twice) and twice > once


def test_all_claims_are_judged_by_the_results_that_are_there(
    model: Path, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.front.reproduction_plan.papers", lambda: ["clark2019"])
    options = ("--data", data, "--limit", "8", "--resamples", "20", "--no-figures", "-o", folder.parent)
    ended = run_command("reproduce", "--all", model, *options)
    assert ended.exit_code == 0 and "surface: headscope profile is kept" in ended.stderr, ended.output
    rows = (folder.parent / "certificate.md").read_text(encoding="utf-8").splitlines()
    verdicts = {row.split(" | ")[0].strip("| "): row.split(" | ")[3] for row in rows if row.startswith("| ")}
    assert verdicts["C1"] == "undecided" and verdicts["C14"] == verdicts["K1"] == "not measured"
    assert "34.5%, the best fixed offset 26.3% (Table 1)" in next(row for row in rows if row.startswith("| C10 |"))

"""`headscope rerun`: what it compares, what it says, and its exit status."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headscope import results
from headscope.errors import HeadscopeError
from headscope.front.cli.saved_command import followed
from headscope.results.differences import differences
from support.cli import run_command
from support.profile_result import profile_result
from support.tiny import save_tiny, tiny_bert


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a profile; its model is in the folder `model` beside it."""
    folder = tmp_path_factory.mktemp("saved")
    save_tiny(folder / "model", tiny_bert(0, num_hidden_layers=1))
    texts = folder / "texts.txt"
    texts.write_text("The cat slept.\nShe saw it.\n", encoding="utf-8")
    done = run_command("profile", folder / "model", texts, "--resamples", "5", "--no-figures", "-o", folder / "out")
    assert done.exit_code == 0, done.output
    return folder / "out"


def test_another_model_is_said_first_and_then_the_variables_that_differ(saved: Path) -> None:
    same = run_command("rerun", saved)
    assert same.exit_code == 0 and same.stdout.startswith("model: the same (")
    assert same.stdout.splitlines()[1].startswith("corpus: the same (")
    model = saved.parent / "model"
    save_tiny(model, tiny_bert(1, num_hidden_layers=1))
    try:
        other, as_json = run_command("rerun", saved), run_command("rerun", saved, "--json")
        lenient = run_command("rerun", saved, "--tolerance", "100", "--relative", "10")
    finally:
        save_tiny(model, tiny_bert(0, num_hidden_layers=1))
    assert other.exit_code == 1 and other.stdout.startswith("model: changed (")
    assert any(line.startswith("entropy  ") and "layer 1, head " in line for line in other.stdout.splitlines())
    read = json.loads(as_json.stdout)
    assert as_json.exit_code == 1 and (read["equal"], read["same"]) == (False, {"model": False, "corpus": True})
    assert {"variable", "largest", "where"} == set(read["differences"][0])
    assert lenient.exit_code == 0, lenient.output


def test_the_page_says_how_to_run_it_again(saved: Path) -> None:
    page = (saved / "report.html").read_text(encoding="utf-8")
    assert f"headscope profile {saved.parent / 'model'} {saved.parent / 'texts.txt'} --resamples 5" in page
    assert "<summary>Run it again</summary>" in page


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "does not name its command: it was made in Python"),
        ({"command": '["syntax", "minilm"]'}, "is of 'profile', its command of 'syntax'"),
        ({"command": '["profile", "--nosuch"]'}, "is not one of this version: no such option '--nosuch'"),
        ({"command": '["profile", "--help"]'}, "only prints help"),
        ({"command": '["profile", "minilm", "-"]'}, "the corpus was standard input"),
        ({"command": '["profile", "--install-completion"]'}, "no such option '--install-completion'"),
        ({"command": '["profile"]', "interrupted": "after 3"}, "is of an interrupted run"),
    ],
)
def test_a_result_that_cannot_be_made_again_is_one_line(tmp_path: Path, attributes: dict[str, Any], words: str) -> None:
    results.save(profile_result(**attributes), tmp_path)
    done = run_command("rerun", tmp_path)
    assert done.exit_code == 2 and words in done.stderr.splitlines()[-1]


EVIL = ("--engine=ray", "--address=10.9.9.9:1", "--workers", "9", "--annotate", "evil", "--trust-remote-code", "-oX")


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The values of the options with which the study would run; nothing is computed."""
    values: dict[str, Any] = {}

    def compute(study: str, given: dict[str, Any], clock: object) -> Any:
        values.update(given)
        return SimpleNamespace(result=profile_result(), inputs={}, journal=SimpleNamespace(remove=lambda: None))

    monkeypatch.setattr("headscope.front.cli.rerun.compute", compute)
    monkeypatch.setattr("headscope.front.cli.rerun.made_from", lambda *_: {})
    return values


def test_a_file_names_no_cluster_no_code_and_no_place_to_write(tmp_path: Path, computed: dict[str, Any]) -> None:
    words = ["profile", "a/b", "hub:c", "--limit", "3", "--overwrite", "--gpus-per-worker", "1", *EVIL]
    results.save(profile_result(command=json.dumps(words)), tmp_path)
    done = run_command("rerun", tmp_path)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stderr.splitlines())
    names = ("--engine", "--address", "--workers", "--annotate", "--trust-remote-code", "--out", "--overwrite")
    without = said.partition(", without ")[2].partition(";")[0].split(", ")
    assert set(without) == {"-o" if name == "--out" else name for name in (*names, "--gpus-per-worker")}
    assert "is asked for model 'a/b', corpus 'hub:c'" in said
    ours = {"engine": "local", "address": "local", "workers": 1, "gpus_per_worker": 0, "remote_code": False}
    ours |= {"annotate": None, "overwrite": False, "limit": 3, "model": "a/b", "corpus": "hub:c"}
    assert computed | ours == computed and computed["out"] != Path("X")


def test_the_user_names_the_cluster_anew(tmp_path: Path, computed: dict[str, Any]) -> None:
    results.save(profile_result(command=json.dumps(["profile", "minilm", *EVIL])), tmp_path)
    done = run_command(
        "rerun", tmp_path, "--engine", "ray", "--address", "auto", "--workers", "2", "--trust-remote-code"
    )
    assert done.exit_code == 0 and ", without -o, --annotate;" in " ".join(done.stderr.splitlines())
    ours = {"engine": "ray", "address": "auto", "workers": 2, "remote_code": True, "annotate": None}
    assert computed | ours == computed
    with pytest.raises(HeadscopeError, match="study 'pretrain-head' has no --workers; leave it out"):
        followed("pretrain_head", ["pretrain-head", "minilm"], {"workers": 2})


def test_a_file_says_nothing_about_the_memory_of_this_machine() -> None:
    given, left_out = followed("structure", ["structure", "minilm", "--memory", "900", "--epochs", "2"], {})
    assert (given["memory"], given["epochs"], left_out) == (4.0, 2, ["--memory"])


def test_differences_of_labels_sizes_texts_and_missing_values() -> None:
    saved = profile_result()
    new = saved.copy(deep=True)
    assert not list(differences(saved, new, 0.0))
    new["entropy"][1, 2] = float("nan")
    new["sep_to_sep"][0, 0] += 2e-5
    new = new.drop_vars("cls_entropy")
    found = {difference.variable: difference for difference in differences(saved, new)}
    assert found.keys() == {"entropy", "sep_to_sep", "cls_entropy"}
    assert (found["entropy"].largest, found["entropy"].where) == (float("inf"), "layer 2, head 3")
    assert found["cls_entropy"].where == "missing in the new result"
    assert [difference.variable for difference in differences(saved, new, 1e-4)] == ["entropy", "cls_entropy"]
    one, fewer = saved[["entropy"]], saved[["entropy"]].isel(head=[0, 1])
    (difference,) = differences(one, fewer)
    assert "4 layer x 3 head in the saved" in difference.where and "4 layer x 2 head in the new" in difference.where
    other = saved.assign_coords(offset=[-2, 0, 1])
    assert {difference.where for difference in differences(saved, other)} == {"other labels of offset"}

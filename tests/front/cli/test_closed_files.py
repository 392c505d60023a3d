"""Files and folders that may not be read or written: one line that names the file, for each command and each input."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import BertForSequenceClassification
from typer.testing import Result

import headscope
from headscope import results
from headscope.corpora.readers import sample
from headscope.corpora.suites import read_suites
from headscope.report.cards import gather
from headscope.viewer.saved_index import read_folders
from support.cli import run_command
from support.closed import closed
from support.profile_result import profile_result
from support.tiny import save_tiny, tiny_bert
from support.unlabelled import folder as map_folder

SIZE: dict[str, Any] = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 8, "intermediate_size": 8}
QUICK = "--resamples 5 --no-figures"
MODEL = "model.safetensors config.json tokenizer.json tokenizer_config.json".split()


def invoke(line: str) -> Result:
    return run_command(*line.split())


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of all kinds: models, corpora, task, suite, vectors, a result, an index, maps, labels and a classifier."""
    folder = tmp_path_factory.mktemp("shelf")
    save_tiny(folder / "model", tiny_bert(0, **SIZE))
    labels = {"id2label": {0: "0", 1: "1"}, "label2id": {"0": 0, "1": 1}}
    save_tiny(folder / "scorer", tiny_bert(0, BertForSequenceClassification, **SIZE, **labels))
    shutil.copytree(folder / "model", folder / "other")
    (folder / "texts.txt").write_text("It rained.\nWe stayed in.\n", encoding="utf-8")
    shutil.copy(sample.FOLDER / "stories.conllu", folder / "bank.conllu")
    (folder / "task").mkdir()
    for split in ("train", "dev"):
        (folder / "task" / f"{split}.tsv").write_text("sentence\tlabel\nIt rained.\t0\nWe slept.\t1\n")
    (folder / "glue" / "RTE").mkdir(parents=True)
    pairs = "index\tsentence1\tsentence2\tlabel\n0\tIt rained.\tWe slept.\tentailment\n1\tA\tB\tnot_entailment\n"
    for split in ("train", "dev"):
        (folder / "glue" / "RTE" / f"{split}.tsv").write_text(pairs)
    (folder / "suite.jsonl").write_text('{"good": "The cat sleeps.", "bad": "The cat sleep."}\n')
    (folder / "suites" / "below").mkdir(parents=True)
    (folder / "penn").mkdir()
    (folder / "penn" / "a.dp").write_text("It\tPRP\t2\nrained\tVBD\t0\n")
    (folder / "ontonotes" / "below").mkdir(parents=True)
    (folder / "ontonotes" / "a.gold_conll").write_text("")
    (folder / "vectors.txt").write_text("the 0.1 0.2\n")
    for name in ("profile", "again"):  # of which one is closed: the other alone is no answer
        results.save(profile_result(), folder / "results" / name)
    made = invoke(f"index {folder}/model {folder}/texts.txt --quiet -o {folder}/index")
    assert made.exit_code == 0, made.output
    made = invoke(f"profile {folder}/model {folder}/texts.txt {QUICK} --quiet -o {folder}/again")
    assert made.exit_code == 0, made.output
    map_folder(folder / "maps", label="block")
    (folder / "weights.safetensors").write_bytes(b"")
    (folder / "empty").mkdir()
    return folder


STUDY = "profile {}/model {}/texts.txt"
READ = [
    *[(STUDY, f"model/{name}") for name in MODEL],
    (STUDY, "model"),
    (STUDY, "texts.txt"),
    ("profile {}/model table:{}/task", "task"),
    ("profile {}/model glue:{}/glue --task rte", "glue"),
    ("profile {}/model glue:{}/glue --task rte", "glue/RTE"),
    ("profile {}/model glue:{}/glue --task rte", "glue/RTE/dev.tsv"),
    ("profile {}/model penn:{}/penn", "penn"),
    ("profile {}/model conll2012:{}/ontonotes", "ontonotes/below"),
    ("profile {}/model brackets:{}/penn", "penn"),
    ("profile {}/model framenet:{}/penn", "penn"),
    ("profile {}/model winobias:{}/penn", "penn"),
    ("profile {}/model winogender:{}/penn", "penn"),
    ("profile {}/model hub:{}/penn", "penn"),
    ("syntax {}/model {}/bank.conllu", "bank.conllu"),
    ("compare {}/model {}/other --corpus {}/texts.txt", "texts.txt"),
    ("compare {}/model {}/other --corpus {}/texts.txt", "other/model.safetensors"),
    ("compare {}/model {}/other --corpus {}/texts.txt", "other/config.json"),
    ("probe {}/model {}/bank.conllu --vectors {}/vectors.txt", "vectors.txt"),
    ("cloze {}/model {}/suite.jsonl", "suite.jsonl"),
    ("cloze {}/model blimp --data {}/suites", "suites"),
    ("cloze {}/model blimp --data {}/suites", "suites/below"),
    ("finetune {}/model --task two --data {}/task", "task/dev.tsv"),
    ("finetune {}/model --task two --data {}/task", "task/train.tsv"),
    ("finetune {}/model --task two --data {}/task", "task"),
    ("finetune {}/model --task two --data {}/task", "model/model.safetensors"),
    ("ablate {}/scorer --task two --data {}/task", "task/dev.tsv"),
    ("ablate {}/scorer --task two --data {}/task", "scorer/config.json"),
    ("prune {}/scorer --task two --data {}/task", "task/dev.tsv"),
    ("prune {}/scorer --task two --data {}/task", "scorer/model.safetensors"),
    ("prune {}/scorer --task two --data {}/task", "task"),
    ("report {}/results", "results/profile/result.nc"),
    ("report {}/results", "results/profile"),
    ("report {}/results", "results"),
    ("report {}/results/profile", "results/profile/result.nc"),
    ("report {}/results/profile", "results/profile"),
    ("head 1-1 {}/results", "results/profile/result.nc"),
    ("head 1-1 {}/results", "results/profile"),
    ("export {}/results/profile", "results/profile/result.nc"),
    ("export {}/results/profile", "results/profile"),
    ("export {}/model --format onnx", "model/config.json"),
    ("export {}/model --format onnx", "model"),
    ("rerun {}/again", "again/result.nc"),
    ("rerun {}/again", "again"),
    ("rerun {}/again", "texts.txt"),
    ("rerun {}/again", "model/model.safetensors"),
    ("index {}/model {}/texts.txt", "texts.txt"),
    ("index {}/model {}/texts.txt", "model/config.json"),
    ("view {}/model --no-browser", "model/config.json"),
    ("view {}/model --no-browser", "model/tokenizer.json"),
    ("view {}/model --no-browser", "model"),
    ("view {}/model {}/index --no-browser", "index/examples.nc"),
    ("view {}/model {}/index --no-browser", "index"),
    ("view {}/model {}/results --no-browser", "results/profile/result.nc"),
    ("view {}/results --no-browser", "results/profile"),
    ("view {}/model --corpus {}/texts.txt --no-browser", "texts.txt"),
    ("view {}/model --with {}/other --no-browser", "other/model.safetensors"),
    ("patterns {}/model {}/texts.txt --weights {}/weights.safetensors", "weights.safetensors"),
    ("patterns evaluate {}/maps", "maps/maps.npz"),
    ("patterns evaluate {}/maps", "maps/labels.jsonl"),
    ("patterns evaluate {}/maps", "maps"),
]


@pytest.fixture(autouse=True)
def no_server(never: Callable) -> None:
    """A page that is served after all would wait for Ctrl-C."""
    never("headscope.viewer.serving.serve_on")


@pytest.mark.parametrize(("line", "name"), READ)
def test_what_may_not_be_read_is_named_in_one_line(
    line: str, name: str, shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # studies without -o write into `out` here
    with closed(shelf / name):
        done = invoke(line.replace("{}", str(shelf)))
    *before, said = done.stderr.splitlines() or [""]
    assert done.exit_code == 2 and str(shelf / name) in said, (done.stderr, done.exception)
    assert not before or before[0].startswith("headscope: running again"), done.stderr
    assert not any(tmp_path.rglob("result.nc"))


STUDY_OUT = f"-o {{out}} {QUICK}"
WRITTEN = [
    (f"{STUDY} {STUDY_OUT}", "", 0o500),
    (f"{STUDY} -o {{out}}/below/deeper {QUICK}", "", 0),
    (f"{STUDY} {STUDY_OUT}", "result.nc", 0),
    (f"{STUDY} {STUDY_OUT}", ".headscope.journal/pass-1", 0),
    (f"{STUDY} {STUDY_OUT}", ".headscope.journal", 0),
    (f"ablate {{}}/scorer --task two --data {{}}/task {STUDY_OUT}", "ablate.passes/sweep/pass-1", 0),
    (f"ablate {{}}/scorer --task two --data {{}}/task {STUDY_OUT}", "ablate.passes", 0),
    (f"finetune {{}}/model --task two --data {{}}/task {STUDY_OUT}", "runs", 0),
    (f"finetune {{}}/model --task two --data {{}}/task {STUDY_OUT}", "runs", 0o500),
    ("index {}/model {}/texts.txt -o {out}", "", 0o500),
    ("export {}/results/profile -o {out}", "", 0o500),
    ("view {}/model --text It. --export {out}/page.html", "", 0o500),
]


@pytest.mark.parametrize(("line", "name", "mode"), WRITTEN)
def test_what_may_not_be_written_is_named_in_one_line(
    line: str, name: str, mode: int, shelf: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    if name in ("", "runs", ".headscope.journal", "ablate.passes"):
        (out / name).mkdir(parents=True)
    else:
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("")
    with closed(out / name, mode):
        done = invoke(line.replace("{}", str(shelf)).replace("{out}", str(out)))
    assert done.exit_code == 2 and done.stderr.count("\n") == 1, (done.stderr, done.exception)
    assert str(out) in done.stderr and name in done.stderr


@pytest.mark.parametrize("name", ["results/profile/result.nc", "results/profile", "results"])
def test_a_page_over_a_closed_result_is_one_line(name: str, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # a new process of root would have its rights again
    for page in (shelf / "results").rglob("report.html"):  # one that is newer than its numbers is not written again
        page.unlink()
    with closed(shelf / name, 0o500 if (shelf / name).is_dir() else 0):
        done = invoke(f"report {shelf}/results --no-figures")
    lines = [line for line in done.stderr.splitlines() if not line.endswith(" left")]  # which a slow machine says
    assert done.exit_code == 2 and len(lines) == 1, (lines, done.exception)
    assert str(shelf / name) in lines[0]


PYTHON = {
    "model/config.json": lambda shelf: headscope.load(f"{shelf}/model"),
    "model/model.safetensors": lambda shelf: headscope.load(f"{shelf}/model"),
    "texts.txt": lambda shelf: headscope.read(f"{shelf}/texts.txt"),
    "task/dev.tsv": lambda shelf: headscope.read_task("two", shelf / "task"),
    "task": lambda shelf: headscope.read_task("two", shelf / "task"),
    "suite.jsonl": lambda shelf: read_suites([f"{shelf}/suite.jsonl"]),
    "results/profile/result.nc": lambda shelf: headscope.open_result(shelf / "results" / "profile"),
    "results/profile": lambda shelf: gather([shelf / "results"]),
    "index": lambda shelf: read_folders([shelf / "index"]),
    "other/tokenizer.json": lambda shelf: headscope.profile(f"{shelf}/other", f"{shelf}/texts.txt"),
    "maps": lambda shelf: headscope.profile(f"{shelf}/model", f"{shelf}/maps/labels.jsonl"),
    "model": lambda shelf: headscope.show(f"{shelf}/model", "It rained."),
}


@pytest.mark.parametrize("name", PYTHON)
def test_a_caller_of_python_gets_an_error_of_headscope_that_names_the_file(name: str, shelf: Path) -> None:
    with closed(shelf / name), pytest.raises(headscope.HeadscopeError, match=f"'{shelf / name}.*Permission denied"):
        PYTHON[name](shelf)

"""What a study is given: the options that its inputs ask for, and how they are made."""

from unittest.mock import Mock, patch

import pytest
import torch
from transformers import BertForMaskedLM, GPT2LMHeadModel

from headscope import HeadscopeError, models
from headscope.front.cli.options import DEFAULTS, SHARED
from headscope.front.inputs import INPUT_TYPES, from_options, made_from, options_of
from headscope.storage.kept_inputs import inputs_kept
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert, tiny_gpt2

CORPORA = {"corpora": "tuple[Corpus, ...]"}
TABLE = "sentence\tlabel\nThe cat slept.\tyes\nThe dog ran.\tno\nA bird sat.\tyes\n"


@pytest.fixture
def given(tmp_path):
    """What the command line gives if only a folder, a tiny model and a task are named."""
    (tmp_path / "train.tsv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "dev.tsv").write_text(TABLE, encoding="utf-8")
    model = str(save_tiny(tmp_path / "model"))
    return DEFAULTS | {"out": tmp_path / "out", "model": model, "models": [model, model], "data": tmp_path}


def test_every_option_that_an_input_needs_is_there():
    assert {option for kind in INPUT_TYPES.values() for option in kind.options} <= SHARED.keys()


def test_options_of_inputs():
    assert "corpus" in options_of({"model": "Model", "corpus": "Corpus"})
    assert "data" not in options_of({"model": "Model", "corpus": "Corpus"})
    assert {"corpus", "data"} <= options_of({"model": "Model", "task": "Task"})  # masked words of a corpus
    assert "corpus" not in options_of({"checkpoint": "ModelName", "tasks": "tuple[Task, ...]"})
    compared = options_of({"models": "tuple[Model, ...]", "corpus": "ComparedCorpus", "task": "Task | None"})
    assert {"models", "other", "data"} <= compared and not {"model", "corpus"} & compared


def test_task_is_read_from_its_folder(given):
    task = from_options({"task": "Task"}, given | {"task": "mine"})["task"]
    assert (task.name, task.labels, task.dev.n_examples) == ("mine", ("no", "yes"), 3)


def test_studies_of_a_survey_read_a_corpus_once_and_again_when_its_file_has_changed(given, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("It rained.\nWe stayed in.\n", encoding="utf-8")
    options = given | {"corpus": str(texts)}
    inputs = {"model": "Model", "corpus": "Corpus"}
    apart = [from_options(inputs, options) for _ in range(2)]
    assert apart[0]["corpus"] is not apart[1]["corpus"] and apart[0]["model"] is not apart[1]["model"]
    with inputs_kept():
        first, second = (from_options(inputs, options | {"out": tmp_path / name}) for name in ("one", "two"))
        assert first["corpus"] is second["corpus"] and first["model"] is second["model"]
        assert from_options(inputs, options | {"limit": 1})["corpus"].n_examples == 1
        texts.write_text("It rained.\nWe stayed in.\nIt stopped.\n", encoding="utf-8")
        third = from_options(inputs, options)
        assert third["corpus"].n_examples == 3 and third["model"] is first["model"]
        assert from_options(inputs, options)["corpus"] is third["corpus"]


@pytest.mark.always
@pytest.mark.parametrize("network", [tiny_gpt2(kind=GPT2LMHeadModel), tiny_bert(kind=BertForMaskedLM)])
def test_studies_of_a_survey_load_the_weights_of_a_model_of_words_once(network, given, tmp_path):
    options = given | {"model": str(save_tiny(tmp_path / "words", network)), "corpus": "sample", "limit": 2}
    studies = {"profile": {"model": "Model"}, "gradients": {"model": "Model", "task": "Task | None"}}
    alone = {study: from_options(inputs, options)["model"] for study, inputs in studies.items()}
    with inputs_kept(), patch.object(models, "load", wraps=models.load) as load:
        together = {study: from_options(inputs, options)["model"] for study, inputs in studies.items()}
        assert from_options(studies["profile"], options)["model"] is together["profile"]
    assert load.call_count == 1
    weights = [{id(weight) for weight in model.network.base_model.parameters()} for model in together.values()]
    assert weights[0] == weights[1]
    for study, model in together.items():
        assert type(model.network) is type(alone[study].network)
        inputs = model.tokenizer("The cat sat.", return_tensors="pt")
        with torch.inference_mode():
            assert torch.equal(model.network(**inputs)[0], alone[study].network(**inputs)[0])
        names = ("name", "capture", "revision", "sha256", "files", "notes", "checkpoint")
        assert all(getattr(model, name) == getattr(alone[study], name) for name in names)


def test_a_full_disk_for_standard_input_has_a_remedy_and_no_file_stays(full_disk, tmp_path, monkeypatch):
    full_disk("shutil.copyfileobj")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("atexit.register", at_exit := Mock())
    ended = run_command("profile", "minilm", "-", "-q", input="a text")
    at_exit.call_args.args[0](*at_exit.call_args.args[1:])
    assert ended.exit_code == 2 and not list(tmp_path.iterdir())
    assert "no space left on the disk; make room there, or" in ended.stderr and "as TMPDIR" in ended.stderr


def test_without_a_task_the_words_of_a_corpus_are_masked(given):
    task = from_options({"task": "Task"}, given | {"corpus": "sample", "limit": 4})["task"]
    assert (task.kind, task.dev.n_examples) == ("masked", 4)


def test_task_may_be_left_out_where_the_study_allows_it(given):
    assert from_options({"task": "Task | None"}, given)["task"] is None


def test_several_tasks(given):
    tasks = from_options({"tasks": "tuple[Task, ...]"}, given | {"task": "mine, yours"})["tasks"]
    assert [task.name for task in tasks] == ["mine", "yours"]


def test_corpora_are_read_by_name_or_are_the_dev_splits_of_tasks(given):
    named = from_options(
        CORPORA, given | {"corpora": ["sample", str(given["data"] / "dev.tsv")], "limit": 2, "data": None}
    )
    assert [(corpus.name.rpartition("/")[2], corpus.n_examples) for corpus in named["corpora"]] == [
        ("sample", 2), ("dev.tsv", 2),
    ]  # fmt: skip
    tasks = from_options(CORPORA, given | {"task": "mine, yours"})["corpora"]
    assert [(corpus.name, corpus.n_examples) for corpus in tasks] == [("mine", 3), ("yours", 3)]
    split = from_options(CORPORA, given | {"task": "mine", "split": "train", "limit": 1})["corpora"]
    assert [corpus.n_examples for corpus in split] == [1]


def test_compared_models_read_the_task_unless_a_corpus_is_named(given):
    inputs = {"task": "Task | None", "corpus": "ComparedCorpus"}
    assert from_options(inputs, given | {"task": "mine"})["corpus"].n_examples == 3
    assert from_options(inputs, given | {"task": "mine", "other": "sample", "limit": 2})["corpus"].name == "sample"
    assert from_options(inputs, given | {"limit": 2})["corpus"].name == "sample"


def test_checkpoint_is_not_loaded(given):
    ready = from_options(
        {"checkpoint": "ModelName", "loading": "Loading"}, given | {"model": "whatever", "device": "cpu"}
    )
    assert ready["checkpoint"] == "whatever"
    assert ready["loading"] == {"device": "cpu", "revision": None, "remote_code": False}


def test_models_are_loaded(given):
    assert len(from_options({"models": "tuple[Model, ...]"}, given)["models"]) == 2


@pytest.mark.parametrize(
    ("inputs", "changes", "message"),
    [
        ({"task": "Task"}, {"task": "mrpc", "data": None}, "--data"),
        ({"tasks": "tuple[Task, ...]"}, {}, "--task"),
        (CORPORA, {"task": "mine", "data": None}, "--data"),
        (CORPORA, {}, "--task"),
        (CORPORA, {"task": "mine", "corpora": ["sample"]}, "without CORPUS"),
        (CORPORA, {"task": "mine", "split": "test"}, "no split 'test'"),
        ({"models": "tuple[Model, ...]"}, {"models": ["minilm"]}, "two or more"),
    ],
)
def test_what_is_missing_is_named(given, inputs, changes, message):
    with pytest.raises(HeadscopeError, match=message):
        from_options(inputs, given | changes)


def test_an_empty_option_names_no_folder(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result.nc").write_bytes(b"numbers of another study, here")
    values = given | {"corpus": "sample", "contexts": "", "models": []}
    inputs = {"model": None, "corpus": None}
    assert "contexts" not in made_from(values, inputs)
    assert "contexts" in made_from(values | {"contexts": "."}, inputs)

"""Every study is a function of the package, and a model or a corpus may be a name or an object of another library."""

import ast
import doctest
import inspect
import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import datasets
import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from transformers import AutoModel

import headscope
from headscope import HeadscopeError, catalog
from headscope.corpora import Corpus, Options
from headscope.errors import in_python
from headscope.front import signatures
from headscope.passes.settings import WordsModel
from headscope.report.study_page import study_page
from support.planted_task import planted_classifier
from support.profile_result import profile_result
from support.tiny import save_tiny, tiny_tokenizer

TEXTS = ["The cat slept.", "A dog ran to the house."]
PAIRS = [("The cat slept.", "A dog ran."), ("A bird sat.", "It rained.")]
RESULT = xr.Dataset(
    {
        "entropy": (("layer", "head"), [[0.5, 0.25]]),
        "attention_to": (("token_kind", "layer", "head"), [[[0.5, 0.25]], [[0.25, 0.125]]]),
        "share": ("layer", [1.0]),
    },
    {"layer": [1], "head": [1, 2], "token_kind": ["cls", "sep"]},
    {"study": "mine"},
)


LABELLED: dict[str, Any] = {
    "data": [f"{text} {number}" for number in range(6) for text in TEXTS],
    "labels": ["no", "yes"] * 6,
}
TASK = headscope.read_task("mine", **LABELLED)
TREE = """1 Cats cat NOUN _ _ 2 nsubj _ _
2 sleep sleep VERB _ _ 0 root _ _""".replace(" ", "\t")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


def test_texts_are_labelled_in_memory(tmp_path: Path) -> None:
    assert TASK.labels == ("no", "yes") and TASK.train and TASK.dev.n_examples == TASK.train.n_examples == 6
    texts, labels = LABELLED["data"], LABELLED["labels"]
    model = headscope.wrap(planted_classifier(), tiny_tokenizer())
    options: dict[str, Any] = {"single": False, "heads": ["1-1"], "perturbations": False, "resamples": 10}
    result = headscope.ablate(model, texts, labels=labels, **options)
    assert result.attrs["task"] == "labels" and result.sizes["metric"] == 3
    rows = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    np.testing.assert_array_equal(headscope.ablate(model, rows, **options)["set_score"], result["set_score"])
    with pytest.raises(HeadscopeError, match="have no labels; give them as labels="):
        headscope.ablate(model, texts)
    with pytest.raises(HeadscopeError, match="labels: 1 for 12 texts; give one for each text"):
        headscope.finetune(str(tmp_path), texts, labels=["no"])


def test_sentences_of_a_treebank_are_given_in_memory() -> None:
    corpus = headscope.read([TREE, TREE], kind="conllu")
    assert [sentence.heads for example in corpus for sentence in example.sentences] == [(2, 0)] * 2
    with pytest.raises(HeadscopeError, match="corpus 'list', line 1: no 'links'"):
        headscope.read(['{"text": "It rained."}'], kind="links")


def test_two_results_are_compared(tmp_path: Path) -> None:
    before = profile_result()
    after = before.assign(entropy=before["entropy"] + 0.5, entropy_ci=before["entropy_ci"] + 0.5)
    change = headscope.compare(before, after.assign_attrs(model="tuned"))
    entropy = change["difference_entropy"]
    assert entropy.sizes["model"] == 1 and entropy["model"].item() == "tuned" and (abs(entropy - 0.5) < 1e-6).all()
    width = np.diff(before["entropy_ci"].transpose(..., "bound"))
    np.testing.assert_allclose(np.diff(change["difference_entropy_ci"].transpose(..., "bound")), width[None] * 2**0.5)
    for name, result in (("before", before), ("after", after.assign_attrs(model="tuned"))):
        headscope.save_result(result, tmp_path / name)
    of_folders = headscope.compare(tmp_path / "before", str(tmp_path / "after"))
    np.testing.assert_allclose(of_folders["difference_entropy"], entropy, atol=1e-6)
    assert headscope.save_result(of_folders, tmp_path / "change") and study_page(of_folders).figures()
    with pytest.raises(HeadscopeError, match="the results are of two corpora"):
        headscope.compare(before, after.assign_attrs(corpus_sha256="other"))


@pytest.mark.parametrize("name", catalog.names("studies"))
def test_every_study_is_called_alike(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Names become models and corpora before the study is called."""
    study = catalog.load("studies", name)
    signature, given = inspect.signature(study.run), {}
    flat = inspect.signature(signatures.read(name, "study", "run").load()).parameters

    def run(*args: Any, **kwargs: Any) -> xr.Dataset:
        given.update(kwargs)
        return xr.Dataset()

    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__, run.__doc__ = study.run.__annotations__, study.run.__doc__
    monkeypatch.setattr(study, "run", run)
    function = getattr(headscope, name)
    assert name in dir(headscope) and function.__name__ == name
    of_words = study.run.__annotations__.get("model") is WordsModel  # whose maps are not kept
    kept = {"model", "models"} & signature.parameters.keys() and not of_words
    maps = {"examples": 0} if kept else {}
    labels = (
        {"labels"} & {*inspect.signature(function).parameters} if {"task", "tasks"} & {*signature.parameters} else {}
    )
    more = {*maps, *labels, "tokenizer", "progress"}
    assert set(inspect.signature(function).parameters) == {*flat, *more}
    named = {"model": folder, "checkpoint": folder, "models": (folder, folder), "tasks": TASK, "task": None}
    named |= {"corpus": TEXTS, "corpora": TEXTS, "training": TEXTS, "directory": "out", "suites": ("numeracy",)}
    named |= {"treebanks": TEXTS, "trainings": (TEXTS,), "steps": (folder, folder)}
    function(**{argument: value for argument, value in named.items() if argument in signature.parameters}, **maps)
    kinds = {"model": headscope.Model, "corpus": Corpus, "training": Corpus, "directory": Path, "checkpoint": str}
    assert all(isinstance(given[argument], kind) for argument, kind in kinds.items() if argument in given)
    assert all(isinstance(model, headscope.Model) for model in given.get("models", ()))
    several = [*given.get("corpora", ()), *given.get("treebanks", ()), *given.get("trainings", ())]
    assert all(isinstance(corpus, Corpus) for corpus in several)
    assert given.keys() <= signature.parameters.keys()


def test_a_result_has_the_maps_of_typical_inputs(folder: Path) -> None:
    result = headscope.profile(folder, TEXTS, examples=1)
    assert result["typical_map"].sizes["typical_input"] == 1
    assert headscope.profile(folder, TEXTS).sizes["typical_input"] == 2
    assert "typical_map" not in headscope.profile(folder, TEXTS, examples=0)


@pytest.mark.parametrize(
    ("progress", "interactive", "shown"),
    [(None, False, False), (None, True, True), (True, False, True), (False, True, False)],
)
def test_progress_is_a_bar_on_stderr(
    progress: bool | None,
    interactive: bool,
    shown: bool,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headscope.front.progress.interactive", lambda: interactive)
    done = list[int]()
    settings = headscope.Settings(resamples=5, on_progress=done.append)
    headscope.profile(folder, TEXTS, settings, examples=0, progress=progress)
    out, err = capsys.readouterr()
    assert ("profile: 100%" in err and "2/2" in err) == shown and not out
    assert sum(done) == 2


@pytest.mark.parametrize(
    ("source", "segments"),
    [
        (TEXTS, 1),
        (PAIRS, 2),
        (pd.Series(TEXTS), 1),
        (np.array(TEXTS), 1),
        (np.array(PAIRS), 2),
        (pd.DataFrame({"text": TEXTS, "label": [0, 1]}), 1),
        (datasets.Dataset.from_dict({"premise": TEXTS, "hypothesis": TEXTS, "label": [0, 1]}), 2),
    ],
)
def test_a_corpus_may_be_in_memory(source: Any, segments: int) -> None:
    corpus = headscope.read(source)
    assert corpus.n_examples == 2 and len(list(corpus)) == 2
    assert all(len(example.segments) == segments for example in corpus)
    assert headscope.read(source).sha256 == corpus.sha256 != headscope.read(["Another."]).sha256
    assert headscope.read(source, limit=1).n_examples == 1
    assert headscope.read(corpus) is corpus


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: headscope.profile(3, TEXTS), "a int is no model; use a name, a folder"),
        (lambda: headscope.profile("minilm", 3), "a int cannot be read; use a name, a path"),
        (lambda: headscope.read([TEXTS, 3]), "item 2 has the type int"),
        (lambda: headscope.read(datasets.DatasetDict({})), "a DatasetDict has several splits"),
        (lambda: headscope.read(pd.DataFrame({"a": [1]})), "no column is known to hold text"),
        (lambda: headscope.read("sample", limt=3), "did you mean 'limit'"),
        (lambda: headscope.read_task("cola", "x", limt=3), "did you mean 'limit'"),
        (lambda: headscope.plot(RESULT, "attention_to", token_kin="sep"), "did you mean 'token_kind'"),
        (lambda: headscope.profile(RESULT, TEXTS), "a result is no model"),
        (lambda: headscope.finetune(RESULT, TEXTS, labels=[0, 1]), "a Dataset is in memory.*save_pretrained.*folder"),
        (lambda: headscope.read_task(cast(Any, pd.DataFrame({"text": TEXTS}))), r"no name.*read_task\('mine', data\)"),
        (lambda: headscope.plot(RESULT), r"as in plot\(result, 'entropy'\); there are: .*entropy"),
        (lambda: headscope.tidy(RESULT[["share"]]), "no variable by head; name a variable: share"),
        (lambda: headscope.coreference("minilm", "sample", tokens=0), "tokens 0: use a number from 1 to 1000000"),
    ],
)
def test_what_will_not_do_is_one_clear_error(call: Any, message: str) -> None:
    with pytest.raises(HeadscopeError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_a_network_needs_its_tokenizer(folder: Path) -> None:
    with pytest.raises(HeadscopeError, match="give it as tokenizer="):
        headscope.profile(AutoModel.from_pretrained(folder), TEXTS)


def test_representations_are_short(folder: Path) -> None:
    assert repr(headscope.read(TEXTS)) == "Corpus('list', 2 examples)"
    assert len(repr(headscope.load(str(folder)))) < len(str(folder)) + 60
    assert "lambda" not in str(inspect.signature(headscope.profile))


def test_a_function_is_told_of_progress(folder: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    headscope.profile(folder, TEXTS, examples=0, progress=lambda *phase: seen.append(phase))
    assert ("loading", 1, 1) in seen and seen[-1] == ("profile", 2, 2)


def test_settings_are_given_by_name(folder: Path) -> None:
    result = headscope.profile(folder, TEXTS, seed=3, resamples=5, batch_tokens=64, examples=0)
    kept = json.loads(result.attrs["settings"])
    assert (result.attrs["seed"], kept["resamples"], kept["batch_tokens"]) == (3, 5, 64)
    given = headscope.profile(folder, TEXTS, headscope.Settings(seed=3), resamples=5, examples=0)
    xr.testing.assert_equal(given, result)
    with pytest.raises(HeadscopeError, match="workers 0: use a number from 1 to 256"):
        headscope.profile(folder, TEXTS, workers=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: headscope.profile("minilm", TEXTS, sed=1), r"headscope\.profile: .*'sed'; did you mean 'seed'\?"),
        (lambda: headscope.syntax("minilm", TEXTS, as_code=1), r"headscope\.syntax: .*did you mean 'as_coded'\?"),
        (lambda: headscope.profile("minilm"), r"headscope\.profile: missing .*'corpus'; there are: model, corpus"),
    ],
)
def test_a_wrong_argument_is_answered_by_the_names_of_all(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


FUNCTIONS = [name for name in headscope.__all__ if inspect.isfunction(getattr(headscope, name))]
# Their keywords are options of corpora or studies, or labels of dimensions: `test_what_will_not_do` has their answers.
OF_ANY_KEYWORD = ("plot", "read", "read_task", "reproduce")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in OF_ANY_KEYWORD])
def test_every_function_answers_a_wrong_keyword_by_its_name_and_arguments(name: str) -> None:
    with pytest.raises(TypeError, match=rf"headscope\.{name}: .*'no_such_argument'; there are: \w+"):
        getattr(headscope, name)(no_such_argument=1)


def test_the_nearest_argument_is_named() -> None:
    load: Any = headscope.load
    wrap: Any = headscope.wrap
    with pytest.raises(TypeError, match=r"headscope\.load: .*'devise'; did you mean 'device'\? there are: name,"):
        load("minilm", devise="cpu")
    with pytest.raises(
        TypeError, match=r"headscope\.wrap: missing a required argument: 'network'; there are: network,"
    ):
        wrap()


def test_two_models_may_be_given_one_after_the_other(folder: Path) -> None:
    one, other = (headscope.load(str(folder)) for _ in range(2))
    result = headscope.compare(one, other, TEXTS, resamples=5, examples=0)
    xr.testing.assert_equal(result, headscope.compare((one, other), TEXTS, resamples=5, examples=0))


def test_a_device_may_be_an_object_of_torch(folder: Path) -> None:
    assert headscope.load(str(folder), device=torch.device("cpu")).device == torch.device("cpu")


def test_texts_may_be_made_as_they_are_read() -> None:
    corpus = headscope.read(text for text in TEXTS)
    assert len(list(corpus)) == len(list(corpus)) == 2
    assert headscope.read(map(str.upper, TEXTS)).sha256 == headscope.read([text.upper() for text in TEXTS]).sha256


def test_columns_may_be_a_list(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("a\tb\nIt rained.\tyes\n", encoding="utf-8")
    (example,) = headscope.read(table, columns=["a", "", "b"])
    assert example.label == "yes" and len(example.segments) == 1


def test_a_task_may_be_limited_by_name(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        rows = "".join(f"It rained {n}.\t{n % 2}\n" for n in range(8))
        (tmp_path / f"{split}.tsv").write_text(f"sentence\tlabel\n{rows}", encoding="utf-8")
    assert headscope.read_task("rain", tmp_path, limit=4).dev.n_examples == 4


def test_a_variable_is_plotted_as_it_is() -> None:
    assert headscope.plot(RESULT["entropy"]).mark.type == headscope.plot(RESULT, "entropy").mark.type == "rect"
    assert headscope.plot(RESULT["attention_to"], token_kind="sep").mark.type == "rect"


def test_without_a_name_a_table_has_a_row_for_each_head() -> None:
    table = headscope.tidy(RESULT)
    assert list(table) == ["layer", "head", "entropy", "attention_to: cls", "attention_to: sep"]
    assert table.values.tolist() == [[1, 1, 0.5, 0.5, 0.25], [1, 2, 0.25, 0.25, 0.125]]


def test_remedies_are_those_of_python(tmp_path: Path) -> None:
    """A script is a process of its own: in tests errors name options."""
    script = "import headscope; headscope.read('nothing.unknown', limit=1)"
    (tmp_path / "nothing.unknown").write_text("It rained.", encoding="utf-8")
    process = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "name its kind with kind=" in process.stderr and "--" not in process.stderr.splitlines()[-1]


def lines_with_options() -> list[str]:
    """All lines of the package that name an option, other than those of the command line itself."""
    files = [path for path in catalog.ROOT.rglob("*.py") if "cli" not in path.parts]
    strings = [
        node.value for path in files for node in ast.walk(catalog.parsed(path)) if isinstance(node, ast.Constant)
    ]
    return [text for text in strings if isinstance(text, str) and re.search(r" --[a-z]", text)]


def test_no_option_is_left_in_a_remedy_of_python() -> None:
    lines = lines_with_options()
    assert len(lines) > 40
    assert not [line for line in map(in_python, lines) if re.search(r"--[a-z]|[a-z]= [A-Z]+\b", line)]


def test_remedies_name_arguments_that_there_are() -> None:
    """Examples of commands aside; servers, labelling and a Ray cluster are started from the command line alone."""
    functions = [getattr(headscope, name) for name in headscope.__all__ if name != "HeadscopeError"]
    callables = [function for function in functions if callable(function)]
    known = {argument for function in callables for argument in inspect.signature(function).parameters}
    known |= {field.name for kind in (headscope.Settings, Options) for field in fields(kind)}
    commands = {"address", "gpus_per_worker", "port", "annotator", "number"}
    lines = [line for line in lines_with_options() if not line.startswith("headscope ")]
    named = {name for line in lines for name in re.findall(r"(?<!\w)([a-z]\w*)=", in_python(line))}
    assert {"from_", "remote_code"} <= named
    assert named - known - commands == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_is_documented(name: str) -> None:
    function = getattr(headscope, name)
    documented = function.__doc__ or ""
    parameters = [argument for argument in inspect.signature(function).parameters if argument != "keywords"]
    assert [argument for argument in parameters if f"`{argument}`" not in documented] == []
    assert not re.search(r"(?<![\w.])run\(", documented)
    if name in catalog.names("studies"):
        assert f"headscope.{name}(" in documented or ">>>" not in documented


def test_an_example_can_be_pasted() -> None:
    tests = doctest.DocTestFinder().find(headscope.profile, "profile", globs={})
    assert [test.examples[0].source for test in tests] == ["import headscope\n"]
    assert not doctest.DocTestRunner().run(tests[0]).failed

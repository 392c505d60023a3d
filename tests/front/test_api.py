"""Every study is a function of the package, and a model or a corpus may be a name or an object of another library."""

import inspect
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer
from transformers import AutoModel, AutoTokenizer

import headscope
from headscope import HeadscopeError, catalog
from headscope.corpora import Corpus
from support.planted_words import copying_model
from support.tiny import save_tiny

TEXTS = ["The cat slept.", "A dog ran to the house."]
PAIRS = [("The cat slept.", "A dog ran."), ("A bird sat.", "It rained.")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("name", catalog.names("studies"))
def test_every_study_is_called_alike(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Names become models and corpora before the study is called."""
    study = catalog.load("studies", name)
    signature, given = inspect.signature(study.run), {}

    def run(*args: Any, **kwargs: Any) -> None:
        given.update(kwargs)

    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = study.run.__annotations__
    monkeypatch.setattr(study, "run", run)
    function = getattr(headscope, name)
    assert name in dir(headscope) and function.__name__ == name
    kept = {"model", "models"} & signature.parameters.keys() and "suites" not in signature.parameters
    maps = {"examples": 0} if kept else {}
    assert set(inspect.signature(function).parameters) == {*signature.parameters, *maps, "tokenizer", "progress"}
    named = {"model": folder, "checkpoint": folder, "models": (folder, folder), "tasks": "a task", "task": None}
    named |= {"corpus": TEXTS, "corpora": TEXTS, "training": TEXTS, "directory": "out", "suites": ("numeracy",)}
    named |= {"treebanks": TEXTS, "trainings": (TEXTS,)}
    function(**{argument: value for argument, value in named.items() if argument in signature.parameters}, **maps)
    kinds = {"model": headscope.Model, "corpus": Corpus, "training": Corpus, "directory": Path, "checkpoint": str}
    assert all(isinstance(given[argument], kind) for argument, kind in kinds.items() if argument in given)
    assert all(isinstance(each, headscope.Model) for each in given.get("models", ()))
    several = [*given.get("corpora", ()), *given.get("treebanks", ()), *given.get("trainings", ())]
    assert all(isinstance(each, Corpus) for each in several)
    assert given.keys() <= signature.parameters.keys()


def test_a_model_may_be_an_object_of_another_library(folder: Path) -> None:
    network, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    sentences = SentenceTransformer(modules=[Transformer(str(folder))], device="cpu")
    expected = headscope.profile(str(folder), TEXTS)
    for model, more in ((headscope.load(str(folder)), {}), (network, {"tokenizer": tokenizer}), (sentences, {})):
        result = headscope.profile(model, TEXTS, **more)
        np.testing.assert_allclose(result["entropy"], expected["entropy"], atol=1e-6)


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
        (lambda: headscope.read([TEXTS, 3]), "item 2 of the list is a int"),
        (lambda: headscope.read(datasets.DatasetDict({})), "a DatasetDict has several splits"),
        (lambda: headscope.read(pd.DataFrame({"a": [1]})), "no column is known to hold text"),
        (lambda: headscope.read("sample", limt=3), "did you mean 'limit'"),
        (lambda: headscope.coreference("minilm", "sample", tokens=0), "tokens 0: use at least 1"),
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


def test_a_former_name_is_read_with_a_warning() -> None:
    model, options = copying_model(), {"random": False, "controls": False, "progress": False}
    with pytest.warns(FutureWarning, match=r"headscope\.cloze: each= is now per_condition=") as warned:
        result = headscope.cloze(model, ("numeracy",), each=2, **options)
    assert warned[0].filename == __file__ and result.attrs["n_examples"] == 14
    with pytest.raises(HeadscopeError, match="each= is the former name of per_condition=; give one of them"):
        headscope.cloze(model, ("numeracy",), each=2, per_condition=2)

"""The study of patterns: planted heads are found, shares are means over examples, by corpus."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from typer.testing import Result

import headscope
from headscope import Corpus, Settings
from headscope.corpora import read
from headscope.corpora.corpus import part
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.observer import PatternObserver
from headscope.studies.heads.patterns.study import run, same_in_all
from support.cli import run_command
from support.planted import POSITIONS, Head, looks_at_offset, looks_at_piece, planted
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer
from support.unlabelled import folder

QUICK = Settings(resamples=20, long="truncate")
SCORE = 6.0


def diagonal_and_cls() -> Head:
    """Each token gives itself and the first token the same."""
    query, key = looks_at_offset(0, SCORE)
    query[0, -POSITIONS:] = SCORE
    return Head(query, key)


PLANTED = {
    (1, 1): (looks_at_offset(0, SCORE), "diagonal"),
    (1, 2): (looks_at_offset(-1, SCORE), "diagonal"),
    (1, 3): (looks_at_piece("[CLS]", SCORE), "vertical"),
    (2, 1): (looks_at_piece("[SEP]", SCORE), "vertical"),
    (2, 2): (diagonal_and_cls(), "vertical_diagonal"),
}


def corpus(texts: list[str], name: str = "made") -> Corpus:
    examples = [Example(text, (Sentence(text),)) for text in texts]
    return Corpus(name, name, len(examples), {}, partial(iter, examples))


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def sample() -> Corpus:
    return replace(part(read("sample"), np.arange(14)), n_documents=0)  # as if its examples were independent


@pytest.fixture(scope="module")
def of_sample(model: headscope.Model, sample: Corpus) -> xr.Dataset:
    return run(model, (sample,), QUICK)


def test_planted_heads_have_their_patterns_and_all_others_are_even() -> None:
    words = "the old man walked by the river at night and saw a small bird in the tree near his house".split()
    texts = [" ".join(words[:length]) for length in range(8, len(words))]
    network = planted({key: head for key, (head, _) in PLANTED.items()})
    result = run(headscope.wrap(network, tiny_tokenizer()), (corpus(texts),), QUICK)
    for layer in (1, 2):
        for head in (1, 2, 3, 4):
            expected = PLANTED[layer, head][1] if (layer, head) in PLANTED else "block"
            labels = {"layer": layer, "head": head}
            assert result["dominant"].sel(labels) == expected, labels
            assert float(result["share"].sel(labels | {"pattern": expected})) > 0.9, labels
    total = result["share_total"].to_series().to_dict()
    expected = {"vertical": 2, "diagonal": 2, "vertical_diagonal": 1, "block": 3, "heterogeneous": 0}
    assert total == pytest.approx({pattern: heads / 8 for pattern, heads in expected.items()}, abs=0.05)
    found = result["map"].notnull().any(("query", "key")).sum("example").to_series().to_dict()
    assert found["diagonal"] == 2


def test_shares_are_means_with_intervals_and_counts(of_sample: xr.Dataset) -> None:
    result = of_sample
    assert result["share"].dims == ("layer", "head", "pattern") and result["share_total"].dims == ("pattern",)
    np.testing.assert_allclose(result["share"].sum("pattern"), 1, atol=1e-6)
    np.testing.assert_allclose(result["counted"].sum("pattern"), 1)
    np.testing.assert_allclose(result["share"].mean(("layer", "head")), result["share_total"], rtol=1e-6)
    assert (result["share_n_examples"] == 14).all() and (result["share_total_n_examples"] == 14).all()
    for name in ("share", "share_total", "counted"):
        bounds = result[f"{name}_ci"]
        assert (bounds.sel(bound="lower") <= result[name] + 1e-9).all(), name
        assert (bounds.sel(bound="upper") >= result[name] - 1e-9).all(), name
    assert (result["dominant"] == result["share"].idxmax("pattern")).all()


def test_several_corpora_are_the_dimension_task(model: headscope.Model, sample: Corpus, of_sample: xr.Dataset) -> None:
    second = corpus(["the cat sat on the old bird", "a", "the man saw a small dog by the river"], "second")
    both, other = (run(model, corpora, QUICK) for corpora in ((sample, second, second), (second,)))
    assert both["share"].dims == ("task", "layer", "head", "pattern")
    assert both["task"].values.tolist() == ["sample", "second", "second (2)"]
    for task, alone in (("sample", of_sample), ("second", other), ("second (2)", other)):
        for name in ("share", "share_ci", "share_total", "share_total_ci", "counted", "share_n_examples"):
            np.testing.assert_array_equal(both[name].sel(task=task), alone[name])
    assert both.attrs["n_examples"] == 14 + 3 + 3
    assert json.loads(both.attrs["skipped"]) == {
        "sample: truncated": 4,
        "second: under 4 tokens": 1,
        "second (2): under 4 tokens": 1,
    }
    assert (other["share_n_examples"] == 2).all()
    assert set(both["map_task"].values.flatten()) - {""}


def test_interrupted_in_a_later_corpus_keeps_those_before(
    model: headscope.Model, sample: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, batches = PatternObserver.finish, []

    def stopped(self: PatternObserver) -> object:
        batches.append(1)
        if len(batches) == 2:
            raise KeyboardInterrupt
        return finish(self)

    monkeypatch.setattr(PatternObserver, "finish", stopped)
    settings = replace(QUICK, keep_interrupted=True)
    result = run(model, (sample, sample, sample), settings)
    assert result["task"].values.tolist() == ["sample"]
    assert result.attrs["interrupted"] == "before 'sample'"
    assert result.attrs["n_examples"] == 14


def test_a_file_that_is_no_classifier_is_said(model: headscope.Model, sample: Corpus, tmp_path: Path) -> None:
    (tmp_path / "weights.safetensors").write_bytes(b"no")
    with pytest.raises(HeadscopeError, match="not a classifier"):
        run(model, (sample,), QUICK, weights=tmp_path / "weights.safetensors")
    with pytest.raises(HeadscopeError, match="not a classifier"):
        run(model, (sample,), QUICK, weights=tmp_path / "none.safetensors")


def invoke(*arguments: str) -> Result:
    return run_command("patterns", *arguments)


def test_the_command_reads_several_corpora(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("The cat sat on the mat and slept.\n" * 3, encoding="utf-8")
    out = tmp_path / "out"
    read = (str(save_tiny(tmp_path / "model")), "sample", str(tmp_path / "mine.txt"))
    result = invoke(*read, "-o", str(out), "--limit", "2", "--long", "truncate", "--resamples", "9")
    assert result.exit_code == 0, result.output
    saved = headscope.open_result(out)
    assert saved["share_total"].sizes == {"task": 2, "pattern": 5}
    assert saved.attrs["n_examples"] == 4
    assert (out / "report.html").is_file() and (out / "figures" / "share_total.svg").is_file()
    assert "share of all maps" in result.stdout


def test_the_command_reads_1000_examples_unless_told_otherwise() -> None:
    assert "[default: 1000]" in invoke("--help").stdout


def test_the_classifier_is_scored_on_a_folder_of_labelled_maps(tmp_path: Path) -> None:
    folder(tmp_path, 12, label="heterogeneous")
    found = json.loads(invoke("evaluate", str(tmp_path), "--json").stdout)
    assert {"accuracy", "macro_f1", "f1"} <= found.keys()
    assert 0 <= found["accuracy"] <= 1 and set(found["f1"]) == set(PATTERNS)


def test_inputs_of_one_word_alone_are_counted_and_have_no_share(model: headscope.Model) -> None:
    result = run(model, (corpus(["a", "the"]),), QUICK)
    assert json.loads(result.attrs["skipped"]) == {"under 4 tokens": 2}
    assert result["share"].isnull().all() and (result["share_n_examples"] == 0).all()


def test_heads_that_are_missing_do_not_count() -> None:
    main = xr.DataArray(
        [[["block", "vertical"], ["block", ""]], [["block", "diagonal"], ["block", ""]]], dims=("task", "layer", "head")
    )
    made = same_in_all(main)
    assert float(made["same_pattern"]) == pytest.approx(2 / 3)
    assert int(made["same_pattern_n_examples"]) == 3
    lower, upper = made["same_pattern_ci"].values
    assert 0.2 < lower < 2 / 3 < upper < 0.95

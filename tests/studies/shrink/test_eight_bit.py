"""The saved model in eight bits: parts of the file, the choice of options, its scores, and `headscope verify`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModel, BertForMaskedLM, BertForSequenceClassification

import headscope
from headscope import HeadscopeError, Settings
from headscope.models.onnx import EightBits, export, first_output, quantised, session_of
from headscope.outputs.size_and_speed import file_seconds, random_tokens
from headscope.report.study_page import study_page
from headscope.studies.size.shrink.number_formats import EIGHT, ONNX, WHOLE
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.saved_folder import notes
from headscope.studies.size.shrink.texts import encode
from support.every_study import run
from support.idle_neurons import even, judge_by_embeddings
from support.narrow_embeddings import may_be_narrower
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

QUICK = ("--size", "0.05MB", "--groups", "2", "--epochs", "0", "--resamples", "20")


@pytest.mark.parametrize("kind", [AutoModel, BertForMaskedLM], ids=["states", "words head"])
def test_a_saved_model_in_eight_bits_answers_as_its_result_says(tmp_path: Path, kind: type) -> None:
    model = save_tiny(tmp_path / "tiny", tiny_bert(0, kind))
    words = ("shrink", model, "sample", "--limit", "40", *QUICK, "--eight-bit")
    ended = run(*words, out=tmp_path / "out", page=True)
    assert ended.status == 0, ended.errors
    files = tmp_path / "out" / "model" / ONNX
    assert {path.name for path in files.iterdir()} == {WHOLE, EIGHT}
    assert (files / EIGHT).stat().st_size < (files / WHOLE).stat().st_size
    the_files_answer_as_torch_does(tmp_path / "out" / "model")
    the_page_says_so(tmp_path / "out")
    ended = run("verify", tmp_path / "out", "--json")
    assert ended.status == 0, ended.errors
    before, now = json.loads(ended.output)["eight_bit"]["scores"]["similarity_agreement"]
    assert before == pytest.approx(now, abs=1e-6)
    (files / EIGHT).write_bytes((files / WHOLE).read_bytes())
    ended = run("verify", tmp_path / "out", "--json")
    assert ended.status == 1 and not json.loads(ended.output)["eight_bit"]["same"]
    for content, words in ((b"no ONNX", "cannot be run ("), (b"0" * 4_000_000, "has 4 MB, the model itself 0")):
        (files / EIGHT).write_bytes(content)
        ended = run("verify", tmp_path / "out")
        assert ended.status == 2 and words in " ".join(ended.errors.split())
    (files / EIGHT).unlink()
    ended = run("verify", tmp_path / "out")
    assert ended.status == 2 and "is missing; run 'headscope shrink' again" in ended.errors


def test_a_classifier_is_written_whose_last_map_is_not_square(tmp_path: Path) -> None:
    model = headscope.wrap(tiny_bert(0, BertForSequenceClassification, num_labels=2), tiny_tokenizer())
    source, target = export(model, tmp_path / WHOLE), tmp_path / EIGHT
    quantised(source, target, EightBits())
    inputs = model.tokenizer(["The cat slept."], return_tensors="pt")
    exact, eight = (first_output(session_of(path), inputs) for path in (source, target))
    assert exact.shape == (1, 2) and 1e-5 < float((exact - eight).abs().max()) < 0.5


@pytest.mark.parametrize("fine", [False, True])
def test_a_model_with_narrower_embeddings_is_written_in_eight_bits(tmp_path: Path, fine: bool) -> None:
    size: Any = Size((0, 2), (5, 32, 1), (1, 4, 3), 10) if fine else even((0, 2), 9, 4, 10)
    model = may_be_narrower(BertForSequenceClassification, fine=fine).written(size)
    source, target = export(model, tmp_path / WHOLE), tmp_path / EIGHT  # compared with torch
    assert integer_maps(quantised(source, target, EightBits())) == 13
    inputs = model.tokenizer(["The cat slept."], return_tensors="pt")
    exact, eight = (first_output(session_of(path), inputs) for path in (source, target))
    assert 1e-5 < float((exact - eight).abs().max()) < 0.5


def integer_maps(path: Path) -> int:
    """How many linear maps of a file are of whole numbers."""
    onnx: Any = pytest.importorskip("onnx")
    return sum(node.op_type == "MatMulInteger" for node in onnx.load(str(path)).graph.node)


def the_files_answer_as_torch_does(folder: Path) -> None:
    """Exactly in float32, and nearly in eight bits."""
    model = headscope.load(str(folder))
    judge = judge_by_embeddings(model, Settings())
    inputs = encode(model, tuple(headscope.read(["The cat slept.", "A dog ran to the old house by the river."])))
    expected = judge.outputs(model, inputs)
    exact, eight = (judge.file_outputs(session_of(folder / ONNX / name), model, inputs) for name in (WHOLE, EIGHT))
    np.testing.assert_allclose(exact, expected, atol=1e-4)
    names = [session_of(folder / ONNX / name).get_outputs()[0].name for name in (WHOLE, EIGHT)]
    assert names == ["last_hidden_state"] * 2
    difference = abs(eight - expected).max()
    assert 1e-4 < difference < 0.1
    ids = random_tokens(model, 2, 6)
    assert first_output(session_of(folder / ONNX / WHOLE), {"input_ids": ids, "attention_mask": ids * 0 + 1}).ndim == 3
    assert len(file_seconds([session_of(folder / ONNX / WHOLE)], ids, 3)) == 1


def the_page_says_so(folder: Path) -> None:
    """The page and the card have the score, the size, the speed and the trials."""
    result = headscope.open_result(folder)
    page, known = study_page(result), json.loads(result.attrs["shrinking"])
    topics = [finding.topic for finding in page.findings()]
    assert "The model in eight bits" in topics and sum("eight bits" in topic for topic in topics) == 2
    assert known["eight_bit"]["options"] in next(one.text for one in page.findings() if "model in eight" in one.topic)
    assert "## Eight bits" in notes(result, known) and "onnx/model_quantized.onnx" in notes(result, known)
    assert "## Eight bits" in (folder / "model" / "README.md").read_text()


def test_a_model_that_cannot_be_exported_is_refused_before_the_search(tmp_path: Path) -> None:
    half = headscope.wrap(tiny_bert().half(), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"exported in float32, not in torch\.float16; leave --dtype out"):
        headscope.shrink(half, headscope.read(["One.", "Two."]), directory=tmp_path, eight_bit=True)

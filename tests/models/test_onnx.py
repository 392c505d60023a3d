"""An ONNX file has the outputs of the model, for other shapes than the exported ones; other outputs are refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

import headscope
from headscope import HeadscopeError
from headscope.capture.transformers_logging import quiet
from headscope.models import onnx
from headscope.models.pruned_folder import save
from headscope.studies.prune.cut_heads import prune
from support.tiny import tiny_bert, tiny_tokenizer

runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


def test_a_pruned_classifier_of_a_result_is_exported_and_checked(tmp_path: Path, monkeypatch) -> None:
    model = headscope.wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    remove = np.zeros((3, 4), dtype=bool)
    remove[0, :3] = True
    smaller = prune(model, remove)
    with quiet():
        save(smaller, tmp_path / "model")
    path = onnx.export_folder(tmp_path)
    assert path == tmp_path / "model" / "model.onnx"
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    texts = ["The cat sat.", "A dog!", "Nobody saw the old house by the river that night."]
    inputs = tiny_tokenizer()(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = smaller.network(**inputs).logits
    (output,) = session.run(None, {name: values.numpy() for name, values in inputs.items()})
    np.testing.assert_allclose(output, expected, atol=1e-4)
    inputs["attention_mask"][0, -1] = 0
    trial = {name: inputs[name] for name in ("input_ids", "token_type_ids", "attention_mask")}
    with pytest.raises(HeadscopeError, match="outputs of the ONNX file differ from torch by"):
        onnx._compare(path, trial, expected + 1)
    assert not path.exists(), "a file with other outputs is not left behind"


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="has no model"):
        onnx.export_folder(tmp_path)
    model = headscope.wrap(tiny_bert().half(), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match="exported in float32 on the CPU"):
        onnx.export(model, tmp_path / "model.onnx")

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
    keeps_the_former_file(path, smaller, monkeypatch)


def keeps_the_former_file(path: Path, model: headscope.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second export that breaks off, and one with other outputs, leave the file of the first and nothing else."""
    before, files = path.read_bytes(), set(path.parent.iterdir())

    class Broken:
        def save(self, path: str) -> None:
            Path(path).write_bytes(before[:1000])
            raise OSError(28, "No space left on device")

    class Other:
        def save(self, path: str) -> None:
            Path(path).write_bytes(before)

    monkeypatch.setattr(torch.onnx, "export", lambda *given, **options: Broken())
    with pytest.raises(HeadscopeError, match=r"model\.onnx' cannot be written: no space left on the disk; make room"):
        onnx.export(model, path)
    monkeypatch.setattr(torch.onnx, "export", lambda *given, **options: Other())
    with torch.no_grad():
        model.network.get_parameter("classifier.bias").add_(1)
    with pytest.raises(HeadscopeError, match=r"outputs of the ONNX file differ from torch by 1\.0e"):
        onnx.export(model, path)
    assert path.read_bytes() == before and set(path.parent.iterdir()) == files


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="has no model"):
        onnx.export_folder(tmp_path)
    model = headscope.wrap(tiny_bert().half(), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"exported in float32, not in torch\.float16; leave --dtype out"):
        onnx.export(model, tmp_path / "model.onnx")

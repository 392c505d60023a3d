"""An ONNX file has the outputs of the model, for other shapes than the exported ones; other outputs are refused."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

import headscope
from headscope import HeadscopeError
from headscope.capture.transformers_logging import quiet
from headscope.models import onnx
from headscope.models.onnx import first_output, session_of
from headscope.models.pruned_folder import save
from headscope.outputs.size_and_speed import random_tokens
from headscope.studies.size.prune.cut_heads import prune
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

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
    assert b".py" not in path.read_bytes()  # the exporter names the source files of the machine
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()] == ["logits"]
    assert {tuple(one.shape) for one in session.get_inputs()} == {("examples", "tokens")}
    texts = ["The cat sat.", "A dog!", "Nobody saw the old house by the river that night."]
    inputs = model.tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = smaller.network(**inputs).logits
    (output,) = session.run(None, {name: values.numpy() for name, values in inputs.items()})
    np.testing.assert_allclose(output, expected, atol=1e-4)
    keeps_the_former_file(path, smaller, monkeypatch)


def keeps_the_former_file(path: Path, model: headscope.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that breaks off, one that does not run, and one with other outputs leave the former file alone."""
    before, files = path.read_bytes(), set(path.parent.iterdir())

    class Program:
        model = SimpleNamespace(graph=SimpleNamespace(all_nodes=tuple))

    class Broken(Program):
        def save(self, path: str) -> None:
            Path(path).write_bytes(before[:1000])
            raise OSError(28, "No space left on device")

    class Other(Program):
        def __init__(self, content: bytes) -> None:
            self.content = content

        def save(self, path: str) -> None:
            Path(path).write_bytes(self.content)

    programs = iter([Broken(), Other(b"no model"), Other(before)])
    monkeypatch.setattr(torch.onnx, "export", lambda *given, **options: next(programs))
    with pytest.raises(HeadscopeError, match=r"model\.onnx' cannot be written: no space left on the disk; make room"):
        onnx.export(model, path)
    with pytest.raises(HeadscopeError, match=r"the ONNX file of model 'in memory' cannot be run .*; use it"):
        onnx.export(model, path)
    with torch.no_grad():
        model.network.get_parameter("classifier.bias").add_(1)
    with pytest.raises(HeadscopeError, match=r"outputs of the ONNX file differ from torch by 1\.0e"):
        onnx.export(model, path)
    assert path.read_bytes() == before and set(path.parent.iterdir()) == files


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["albert", "deberta-v2", "modernbert", "t5", "gpt2"])
def test_families_are_exported_for_any_number_of_examples_and_tokens(kind: str, tmp_path: Path) -> None:
    network = tiny_network(tiny_config(kind, vocab_size=len(tiny_vocabulary())))
    tokenizer = tiny_tokenizer()
    if kind == "gpt2":
        tokenizer.pad_token = None
    model = headscope.wrap(network, tokenizer, kind)
    session = session_of(onnx.export(model, tmp_path / "model.onnx"))
    assert [one.name for one in session.get_outputs()] == ["last_hidden_state"]
    for examples, tokens in ((1, 1), (5, 33)):
        ids = random_tokens(model, examples, tokens)
        inputs = {"input_ids": ids, "token_type_ids": 0 * ids, "attention_mask": torch.ones_like(ids)}
        inputs = {one.name: inputs[one.name] for one in session.get_inputs()}
        with torch.inference_mode():
            expected = model.network(**inputs)[0]
        torch.testing.assert_close(first_output(session, inputs), expected, atol=1e-4, rtol=1e-4)


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="has no model"):
        onnx.export_folder(tmp_path)
    model = headscope.wrap(tiny_bert().half(), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"exported in float32, not in torch\.float16; leave --dtype out"):
        onnx.export(model, tmp_path / "model.onnx")

"""The width of embeddings as a part of the search: planted rows of low rank are narrowed to just their rank."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, BertForSequenceClassification

import headscope
from headscope import HeadscopeError, Settings
from headscope.models.embedding_width import EmbeddingBasis
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.size.shrink.moments import embedding_basis
from headscope.studies.size.shrink.original import original_of
from headscope.studies.size.shrink.texts import encode
from headscope.studies.size.shrink.vocabulary import pieces_to_keep
from models.test_embedding_width import planted
from support.findings import all_texts_of
from support.idle_neurons import TEXTS, even
from support.runs import shrink as run

QUICK = Settings(resamples=50)
OPTIONS: dict[str, Any] = {"groups": 12}
PARTS = "neurons,layers,embeddings"


def test_embeddings_become_as_narrow_as_their_rank_and_no_other_part_goes(tmp_path: Path) -> None:
    model, texts = planted(7), headscope.read(TEXTS)
    narrow = embedding_basis(model, encode(model, tuple(texts)), None)
    size = megabytes(model) - narrow.saved_megabytes(8) + 1e-6
    result = run(model, texts, QUICK, directory=tmp_path, size=f"{size:.6f}MB", epochs=0, parts=PARTS, **OPTIONS)
    facts = json.loads(result.attrs["shrinking"])
    assert set(result["part"].values[1:].tolist()) == {"embeddings"}
    assert facts["embedding_width"] == [24, 8] and facts["neurons"] == [32, 32] and facts["layers"] == [3, 3]
    assert facts["megabytes"][1] == pytest.approx(float(result["megabytes"][-1])) == pytest.approx(size, abs=3e-6)
    assert float(result["output_change"][-1]) < 1e-9
    assert float(result["reloaded_score"][0]) == pytest.approx(1, abs=1e-5)
    said = " ".join(all_texts_of(result).values())
    assert "16 of 24 numbers of each embedding" in said and "ordinary AlbertModel" in said


def test_saved_folder_is_an_ordinary_one_and_is_trained(tmp_path: Path) -> None:
    model, texts = planted(16), headscope.read(TEXTS)
    options = OPTIONS | {"size": "0.03MB", "groups": 4, "parts": f"{PARTS},vocabulary"}
    result = run(model, texts, QUICK, directory=tmp_path, epochs=2, **options)
    facts = json.loads(result.attrs["shrinking"])
    assert facts["embedding_width"][1] < 24 and facts["megabytes"][1] <= 0.03
    folder = tmp_path / "model"
    network, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert type(network).__name__ == "AlbertModel" and not list(folder.glob("*.py"))
    assert sum(weight.numel() for weight in network.parameters()) == facts["parameters"][1]
    assert len(tokenizer) == facts["pieces"][1] == network.config.vocab_size
    np.testing.assert_allclose(result["reloaded_score"], result["shrunk_score"], atol=1e-5)
    with torch.no_grad():
        batch = tokenizer(TEXTS[:2], padding=True, return_tensors="pt")
        ours = headscope.load(str(folder)).network(**batch)[0]
        torch.testing.assert_close(network.eval()(**batch)[0], ours, atol=1e-5, rtol=0)


def test_megabytes_are_those_of_the_class_that_is_saved() -> None:
    model = planted(9, BertForSequenceClassification)
    inputs = encode(model, tuple(headscope.read(TEXTS)))
    pieces = pieces_to_keep(model, inputs, 0.0)
    original = original_of(model, inputs, QUICK, ("neurons", "layers", "embeddings"), pieces)
    size = even((0, 2), 9, 4, 5)
    assert megabytes(original.written(size)) == pytest.approx(original.megabytes(original.cut(size), size))


def test_widths_begin_where_something_is_saved() -> None:
    narrow = EmbeddingBasis(torch.zeros(23, 24), torch.zeros(23), 200, 4)
    assert narrow.narrower(0, 12) == 20 and narrow.saved_megabytes(22) < 0 < narrow.saved_megabytes(20)
    assert narrow.narrower(20, 12) == 18 and narrow.narrower(2, 12) is None


def test_gates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="no gates for embeddings"):
        run(planted(9), headscope.read(TEXTS), QUICK, directory=tmp_path, method="gates", parts=PARTS)

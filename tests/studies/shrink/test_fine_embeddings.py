"""`shrink --fine` with embeddings among the parts: what is saved is an ALBERT whose layers differ."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import AutoModel, BertForSequenceClassification, BertModel

import headscope
from headscope import Settings
from headscope.models.embedding_width import rows_of, saved_weights
from headscope.models.pruned_folder import save
from headscope.outputs.size_and_speed import megabytes
from headscope.storage.codec import decode, encode
from headscope.studies.size.shrink.choices import other_choices
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.verification import verified
from models.test_embedding_width import outputs, planted
from support.findings import all_texts_of
from support.idle_neurons import TEXTS
from support.narrow_embeddings import may_be_narrower
from support.runs import shrink as run
from support.tiers import paired

QUICK = Settings(resamples=20)
OPTIONS: dict[str, Any] = {"fine": True, "parts": "neurons,embeddings", "groups": 2}
OPTIONS |= {"epochs": 1}
FULL = Size((0, 1, 2), (32, 32, 32), (4, 4, 4))


@pytest.mark.parametrize(
    ("kind", "size"),
    paired(
        [BertForSequenceClassification, BertModel],
        [
            replace(FULL, embeddings=10),
            Size((0, 2), (5, 32, 0), (1, 4, 3), 10),
            Size((0, 1, 2), (0, 0, 7), (0, 0, 1), 4),
        ],
    ),
)
def test_folder_answers_as_the_model_whose_embeddings_lie_in_few_directions(
    kind: type, size: Size, tmp_path: Path
) -> None:
    original = may_be_narrower(kind, fine=True)
    same, saved = original.cut(size), original.written(size)
    torch.testing.assert_close(outputs(saved), outputs(same), atol=1e-5, rtol=0)
    assert type(saved.network).__name__ == kind.__name__.replace("Bert", "Albert")
    assert megabytes(saved) == pytest.approx(original.megabytes(same, size))
    assert saved.capture.heads == tuple(size.heads[layer] for layer in size.layers)
    folder = save(saved, tmp_path / "model")
    again = headscope.load(str(folder), head=kind is not BertModel)
    torch.testing.assert_close(outputs(again), outputs(same), atol=1e-5, rtol=0)
    if kind is BertModel:
        other = AutoModel.from_pretrained(folder, trust_remote_code=True).eval()
        torch.testing.assert_close(outputs(replace(again, network=other)), outputs(same), atol=1e-5, rtol=0)


def test_sizes_have_a_width_of_embeddings_as_those_of_an_ordinary_class() -> None:
    original = may_be_narrower(BertModel, fine=True)
    assert dict(original.smaller(FULL, 12))["embeddings"] == replace(FULL, embeddings=20)
    both = Size((0, 2), (5, 32, 32), (4, 4, 4), 20)
    assert both.moved_to((1, 2), FULL).embeddings == 20
    assert decode(json.loads(json.dumps(encode(both))), Size) == both
    narrow = Size((0, 1, 2), (5, 32, 0), (4, 4, 4), 5)
    for other in other_choices(original, narrow, 0):
        table: Any = other.network.get_input_embeddings()
        rank = torch.linalg.matrix_rank(table.weight, rtol=1e-4)
        assert int(rank) == 4  # the mean of each row is 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, xr.Dataset, dict[str, Any]]:
    """A folder, its result, and the options that made it: less than narrower embeddings alone can save."""
    folder, model = tmp_path_factory.mktemp("fine"), planted(9)
    least = megabytes(model) - saved_weights(sum(rows_of(model)), 24, 10) * 4e-6
    options: dict[str, Any] = OPTIONS | {"size": f"{least - 0.008:.6f}MB"}
    return folder, run(model, headscope.read(TEXTS), QUICK, directory=folder, **options), options


@pytest.mark.thorough
def test_embeddings_become_as_narrow_as_their_rank_and_then_parts_of_single_layers_go(
    made: tuple[Path, xr.Dataset, dict[str, Any]],
) -> None:
    folder, result, _ = made
    known, parts = json.loads(result.attrs["shrinking"]), result["part"].values.tolist()
    assert known["embedding_width"][0] == 24 > known["embedding_width"][1] and known["reached"]
    assert any(" of layer " in part for part in parts) and known["model_class"] == ["BertModel", "AlbertModel"]
    assert known["megabytes"][1] == pytest.approx(float(result["megabytes"][-1]))
    np.testing.assert_allclose(result["reloaded_score"], result["shrunk_score"], atol=1e-5)
    removed = all_texts_of(result)["What was removed"]
    assert "numbers of each embedding" in removed and "the rest, an AlbertModel, by the code in its folder" in removed
    model, corpus = planted(9), headscope.read(TEXTS)
    assert verified(result, folder / "model", model, corpus, None, QUICK)["same"]
    assert "portable_score" in result and (folder / "model" / "modeling_pruned.py").is_file()

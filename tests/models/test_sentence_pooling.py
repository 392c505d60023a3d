"""How embeddings are made is read from the modules of sentence-transformers, of all its versions."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import normalize

from headscope import HeadscopeError
from headscope.models.sentence_pooling import Pooling, pooling_of
from headscope.studies.size.shrink.answers import Embeddings

MODULES = (("", "Transformer"), ("pool", "Pooling"), ("2_Normalize", "Normalize"))


def folder_of(path: Path, pooling: dict[str, Any], *more: tuple[str, str]) -> Path:
    modules = [{"path": where, "type": f"sentence_transformers.models.{kind}"} for where, kind in (*MODULES, *more)]
    (path / "modules.json").write_text(json.dumps(modules))
    (path / "pool").mkdir()
    (path / "pool" / "config.json").write_text(json.dumps(pooling))
    return path


@pytest.mark.parametrize(
    ("pooling", "way"),
    [
        ({"pooling_mode": "mean", "embedding_dimension": 8}, "mean"),
        ({"pooling_mode": "cls"}, "first"),
        ({"pooling_mode": ["max"]}, "max"),
        ({"pooling_mode": "lasttoken"}, "last"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "first"),
        ({"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": False}, "max"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"word_embedding_dimension": 8}, "mean"),
    ],
)
def test_the_way_is_that_of_the_modules(pooling: dict[str, Any], way: str, tmp_path: Path) -> None:
    assert pooling_of(folder_of(tmp_path, pooling)) == way


def test_ways_and_modules_that_are_not_read_are_refused(tmp_path: Path) -> None:
    assert pooling_of(tmp_path) == "mean"
    folder_of(tmp_path, {"pooling_mode": ["mean", "max"]}, ("3_Dense", "Dense"))
    with pytest.raises(HeadscopeError, match="the module 'Dense' of sentence-transformers is not read; give a --task"):
        pooling_of(tmp_path)
    (tmp_path / "modules.json").write_text((tmp_path / "modules.json").read_text().replace("Dense", "Normalize"))
    with pytest.raises(HeadscopeError, match="pools states by mean and max, which is not read"):
        pooling_of(tmp_path)
    (tmp_path / "modules.json").write_text("[1]")
    with pytest.raises(HeadscopeError, match="cannot be read; save it anew"):
        pooling_of(tmp_path)


@pytest.mark.parametrize("way", ["mean", "first", "max", "last"])
def test_embeddings_are_those_of_a_loop_over_texts(way: Pooling) -> None:
    torch.manual_seed(0)
    states, real = torch.randn(3, 5, 4), torch.tensor([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]).bool()
    pooled = {"mean": lambda own: own.mean(0), "first": lambda own: own[0], "max": lambda own: own.max(0).values}
    pooled["last"] = lambda own: own[-1]
    expected = torch.stack([pooled[way](own[there]) for own, there in zip(states, real, strict=True)])
    torch.testing.assert_close(Embeddings(way).from_first(states, real), normalize(expected, dim=-1))

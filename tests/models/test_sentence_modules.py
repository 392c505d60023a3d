"""How embeddings are made is read from the modules of sentence-transformers, of all its versions."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
from torch import nn
from torch.nn.functional import normalize

import headscope
from headscope import HeadscopeError, load
from headscope.capture.transformers_logging import quiet
from headscope.encoding.encoder import Words
from headscope.models.sentence_modules import modules_in, sentence_modules
from headscope.passes.batches import collator
from headscope.studies.words.attributions.targets import target_of
from headscope.viewer.nearest_sentences import mean_states
from support.idle_neurons import judge_by_embeddings
from support.tiers import in_turn
from support.tiny import save_tiny

TEXTS = ["The cat sat.", "A dog ran down the road, and she saw it.", "It is old."]


def saved(folder: Path, *modules: Any) -> Any:
    """A folder of sentence-transformers, with a tiny BERT; as that library loads it."""
    with quiet():
        save_tiny(folder / "bert")
        model = SentenceTransformer(modules=[Transformer(str(folder / "bert")), *modules], device="cpu")
        model.save(str(folder / "saved"))
    return model.eval()


def dense(inputs: int, outputs: int, seed: int, **options: Any) -> Any:
    torch.manual_seed(seed)
    return Dense(inputs, outputs, **options)


CASES = {
    **{mode: lambda mode=mode: (Pooling(24, (mode,)),) for mode in cast(Any, Pooling.POOLING_MODES)},
    "several": lambda: (Pooling(24, ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")),),
    "dense": lambda: (Pooling(24), dense(24, 8, 1), dense(8, 5, 2, activation_function=nn.ReLU(), bias=False)),
    "residual": lambda: (Pooling(24), dense(24, 8, 1, use_residual=True), dense(8, 8, 2, use_residual=True)),
    "normalised first": lambda: (Pooling(24, "max"), Normalize(), dense(24, 8, 1, activation_function=nn.GELU())),
    "normalised last": lambda: (Pooling(24, "cls"), dense(24, 8, 1, activation_function=nn.Identity()), Normalize()),
}


@pytest.mark.parametrize("case", in_turn(CASES))
def test_embeddings_are_those_of_sentence_transformers(case: str, tmp_path: Path) -> None:
    reference = saved(tmp_path, *CASES[case]())
    with torch.inference_mode(), quiet():
        expected = reference.encode(TEXTS, convert_to_tensor=True, show_progress_bar=False)
    model = load(str(tmp_path / "saved"))
    modules, inputs = sentence_modules(model.network), model.tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        found = modules(model.network(**inputs)[0], inputs["attention_mask"])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_studies_and_the_viewer_take_them(tmp_path: Path) -> None:
    reference = saved(tmp_path, *CASES["normalised last"]())
    with torch.inference_mode(), quiet():
        expected = reference.encode(TEXTS, convert_to_tensor=True, show_progress_bar=False)
    model = load(str(tmp_path / "saved"))
    inputs = Words(model.tokenizer, 64).encode(headscope.read(TEXTS))
    batch = collator(model)(list(inputs))
    with torch.inference_mode():
        output = model.network(**batch.inputs)
        explained = target_of(model).vectors(output, batch.real, batch.index)
        torch.testing.assert_close(normalize(explained, dim=-1), expected, rtol=1e-4, atol=1e-5)
        assert not torch.allclose(explained.norm(dim=-1), torch.ones(3))  # a gradient has a length to follow
        judge = judge_by_embeddings(model, headscope.Settings())
        torch.testing.assert_close(judge.from_first(output[0], batch.real), expected)
        np.testing.assert_allclose(mean_states(model, batch), expected, rtol=1e-4, atol=1e-5)
    result = headscope.attributions(model, TEXTS, flow=0, altered=0)
    assert "state of the first token, 1 linear maps" in result.attrs["target"]
    assert "its modules of sentence-transformers" in headscope.gradients(model, TEXTS).attrs["loss"]


def folder_of(path: Path, pooling: dict[str, Any], *more: tuple[str, str]) -> Path:
    modules = [{"path": where, "type": f"sentence_transformers.models.{kind}"} for where, kind in (*MODULES, *more)]
    (path / "modules.json").write_text(json.dumps(modules))
    (path / "pool").mkdir(exist_ok=True)
    (path / "pool" / "config.json").write_text(json.dumps(pooling))
    return path


MODULES = (("", "Transformer"), ("pool", "Pooling"), ("2_Normalize", "Normalize"))


@pytest.mark.parametrize(
    ("pooling", "ways"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ("first",)),
        ({"pooling_mode_lasttoken": True, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
         ("first", "mean", "last")),
        ({"pooling_mode": ["max"]}, ("max",)),
        ({"word_embedding_dimension": 8}, ("mean",)),
    ],
)  # fmt: skip
def test_configurations_of_other_versions_are_read(pooling: dict[str, Any], ways: tuple[str, ...], tmp_path) -> None:
    assert modules_in(folder_of(tmp_path, pooling)).pooling == ways


@pytest.mark.parametrize(
    ("pooling", "more", "line"),
    [
        ({}, [("3_LSTM", "LSTM")], "the module 'LSTM' of sentence-transformers is not read"),
        ({"pooling_mode": ["mean", "odd"]}, [], "it pools states by mean and odd, which is not read"),
        ({}, [("../pool", "Dense")], "cannot be read; save it again"),
        ({}, [("3_Dense", "Dense")], "cannot be read; save it again"),  # without safetensors weights
    ],
)
def test_what_is_not_read_is_refused_by_name(pooling, more, line, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError) as error:
        modules_in(folder_of(tmp_path, pooling, *more))
    assert line in str(error.value)


def test_an_activation_is_never_imported_by_its_name(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {}, ("3_Dense", "Dense"))
    (folder / "3_Dense").mkdir()
    (folder / "3_Dense" / "config.json").write_text('{"activation_function": "os.system"}')
    with pytest.raises(HeadscopeError, match=r"its Dense has 'os.system' of sentence_embedding, which is not read"):
        modules_in(folder)
    (folder / "modules.json").write_text("[1]")
    with pytest.raises(HeadscopeError, match="cannot be read; save it again"):
        modules_in(folder)
    (folder / "modules.json").unlink()
    assert modules_in(folder).pooling == ("mean",)

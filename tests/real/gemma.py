"""Gemma 3 270M, a GGUF file of 4 bits: the values of docs/measured/gemma-3-270m.md. `make test-real` runs them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headscope
from headscope.corpora import Options

EWT = Path("ud/en_ewt-ud-dev.conllu.gz")
MODEL = Path("out/real/gemma/model.gguf")


@pytest.fixture(scope="module")
def model() -> Any:
    """The model with its head, whose tokenizer lies beside it."""
    return headscope.load(MODEL, head=True)


@pytest.fixture(scope="module")
def sentences(real_data: Path) -> Any:
    """A hundred sentences of English Web Treebank's dev set."""
    return headscope.read(real_data / EWT, Options(limit=100))


def test_the_start_token_gets_two_thirds_of_the_attention(model: Any, sentences: Any) -> None:
    result = headscope.profile(model, sentences)
    attention = result["attention_to"].mean(["layer", "head"])
    assert attention.sel(token_class="cls").item() == pytest.approx(0.673, abs=2e-3)
    assert attention.sel(token_class="sep").item() == 0
    assert result["entropy"].mean().item() == pytest.approx(0.853, abs=2e-3)


def test_one_dimension_makes_most_of_the_likeness_of_tokens(model: Any, sentences: Any) -> None:
    share = headscope.geometry(model, sentences)["top_dimension_share"].isel(dimension_rank=0)
    assert (share.sel(layer=slice(11, 17)) > 0.95).all() and share.sel(layer=18).item() < 0.5


def test_repetition_rests_on_a_head_that_does_not_look_most_at_copies(model: Any, sentences: Any) -> None:
    result = headscope.induction(model, sentences)
    attention, rise = result["attention"].sel(relation="induction"), result["copy_loss_rise"]
    assert attention.argmax(["layer", "head"]) == {"layer": 5, "head": 1}  # 6-2
    assert rise.argmax(["layer", "head"]) == {"layer": 11, "head": 2}  # 12-3
    np.testing.assert_allclose(rise.sel(layer=[12, 6], head=[3, 2]).values.diagonal(), [14.5, 1.56], rtol=0.02)
    assert "value_norm" in result


def test_pairs_of_blimp(model: Any, real_data: Path) -> None:
    result = headscope.cloze(model, "blimp", data=real_data, per_condition=6, random=False, controls=False)
    assert result["accuracy_by_suite"].item() == pytest.approx(0.794, abs=6e-3)


def test_a_head_finds_the_verb_of_an_object(model: Any, real_data: Path) -> None:
    result = headscope.syntax(model, headscope.read(real_data / EWT, Options(limit=600))).sel(relation="obj")
    assert (result["chosen_layer"].item(), result["chosen_head"].item()) == (15, 2)
    assert result["chosen_accuracy"].item() == pytest.approx(0.773, abs=0.02)

"""Models trained from random weights: what is planted is learned, losses are those of a naive loop, runs resume."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import AutoModelForMaskedLM

import headscope
from headscope import Settings, results
from headscope.encoding.masking import IGNORED
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from headscope.studies.training.pretrain.plan import PretrainingPlan
from headscope.studies.training.pretrain.text import lab_text
from headscope.studies.training.pretrain.ways import WAYS
from headscope.training import RunRecord
from support.claim_texts import repeated
from support.killed import Killed, kill
from support.small_tasks import tiny_folder

TEXT, QUICK = repeated(0, 80), Settings(resamples=20)
OPTIONS: dict[str, Any] = {"shapes": "1x2x32", "epochs": 5, "batch": 4, "learning_rate": 1e-2, "max_tokens": 16}
OPTIONS |= {"masked": 0.15}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_folder(tmp_path_factory.mktemp("tiny"), num_hidden_layers=1))


def pretrained(folder: str, directory: Path, settings: Settings = QUICK, **given: Any) -> xr.Dataset:
    return headscope.pretrain(TEXT, settings, vocabulary=folder, directory=directory, **{**OPTIONS, **given})


@pytest.fixture(scope="module")
def finished(folder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, Path]:
    """A run that nothing interrupts, and its folder."""
    directory = tmp_path_factory.mktemp("finished")
    return pretrained(folder, directory, ways="tokens,next-sentence", keep_steps="2"), directory


def test_planted_cycle_is_learned_and_shuffled_pieces_are_not(
    folder: str, finished: tuple[xr.Dataset, Path], tmp_path: Path
) -> None:
    result = results.check(finished[0])
    last = result["held_out_loss"].isel(step=-1)
    assert result["step"].values[0] == 0 and float(result["held_out_loss"].isel(step=0).min()) > 1.3
    assert float(last.sel(way="tokens")) < 1.0 and float(result["frequency_gain"].sel(way="tokens")) > 0.4
    noise = pretrained(folder, tmp_path, ways="tokens", shuffle=True, seeds=1)
    assert float(noise["held_out_loss"][0, -1]) > 1.3 and float(noise["frequency_gain"][0]) < 0.05
    assert [one.topic for one in study_page(noise).highlights() if one.verdict == "holds"] == []


@pytest.mark.parametrize("way", ["tokens", "next-sentence"])
def test_kept_steps_are_a_film_that_ends_at_the_model(way: str, finished: tuple[xr.Dataset, Path]) -> None:
    steps, model = finished[1] / "steps" / way, finished[1] / "models" / f"{way}-0"
    film = headscope.film((str(steps),), TEXT, QUICK)
    ours = headscope.compare((str(steps / "start"), str(model)), TEXT, QUICK, examples=0)
    assert len(film["step"]) == 3 and (film["step_weight_change"].diff("step") != 0).all()
    np.testing.assert_allclose(film["step_similarity"].isel(step=-1), ours["similarity"].isel(model=0), atol=1e-3)
    assert not (finished[1] / "steps" / f"{way}-1").exists()  # of the first seed alone


def test_loss_is_that_of_a_naive_loop(folder: str, finished: tuple[xr.Dataset, Path]) -> None:
    model = headscope.load(folder)
    text = lab_text(model.tokenizer, TEXT, PretrainingPlan(), 16, QUICK.seed)
    network = AutoModelForMaskedLM.from_pretrained(finished[1] / "models" / "tokens-1").eval()
    losses = []
    for encoded, pieces in zip(*text.judged(QUICK.seed, WAYS["tokens"]), strict=True):
        with torch.no_grad():
            logits = network(**{name: torch.tensor(ids)[None] for name, ids in encoded.inputs.items()}).logits[0]
        losses += [-logits[at].log_softmax(-1)[pieces[at]].item() for at in np.flatnonzero(pieces != IGNORED)]
    assert finished[0]["held_out_loss_by_seed"].sel(way="tokens", seed=1)[-1] == pytest.approx(
        np.mean(losses), abs=1e-5
    )
    assert int(finished[0]["held_out_loss_n_examples"].sel(way="tokens")) == len(losses)


def test_models_are_ordinary_and_read_by_other_studies(finished: tuple[xr.Dataset, Path]) -> None:
    for name in ("tokens-0", "next-sentence-1"):
        model = headscope.load(str(finished[1] / "models" / name), head=True)
        assert type(model.network).__name__ == "BertForMaskedLM"
        assert not any("pair_head" in weight for weight, _ in model.network.named_parameters())
        attention = headscope.profile(model, ["the cat", "bird"], QUICK)["attention_offset"]
        assert dict(attention.sizes) == {"layer": 1, "head": 2, "offset": 3}
    assert json.loads(finished[0].attrs["recipe"])["shapes"] == "1x2x32"


def test_the_course_is_what_the_kept_model_does(folder: str, finished: tuple[xr.Dataset, Path]) -> None:
    text = lab_text(headscope.load(folder).tokenizer, TEXT, PretrainingPlan(), 16, QUICK.seed)
    network = headscope.load(str(finished[1] / "models" / "tokens-0")).network
    network.set_attn_implementation("eager")
    previous = []
    for encoded in text.dev:
        inputs = {name: torch.tensor(ids)[None] for name, ids in encoded.inputs.items()}
        with torch.no_grad():
            maps = network(**inputs, output_attentions=True).attentions[0][0]
        previous.append(maps.diagonal(-1, 1, 2).mean(-1))
    expected = torch.stack(previous).mean(0).max().item()
    measured = finished[0]["focus_share_by_seed"].sel(way="tokens", seed=0, focus="previous")[-1]
    assert float(measured) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("name", "call"), [("keep_checkpoint", 7), ("save_heads", 1)])
def test_interrupted_run_ends_with_the_same_weights_and_numbers(
    folder: str,
    finished: tuple[xr.Dataset, Path],
    tmp_path: Path,
    checkpoints: None,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    call: int,
) -> None:
    with monkeypatch.context() as patch:
        kill(patch, RunRecord, name, call)
        with pytest.raises(Killed):
            pretrained(folder, tmp_path, ways="tokens,next-sentence", keep_steps="2")
    result = pretrained(folder, tmp_path, ways="tokens,next-sentence", keep_steps="2")
    assert result.drop_vars("train_seconds").equals(finished[0].drop_vars("train_seconds"))
    for way in ("tokens-0", "next-sentence-0"):
        weights = [path / "models" / way / "model.safetensors" for path in (tmp_path, finished[1])]
        assert weights[0].read_bytes() == weights[1].read_bytes()


def test_completed_trainings_are_not_repeated_and_other_settings_are_refused(
    folder: str, finished: tuple[xr.Dataset, Path], never: Callable[[str], None]
) -> None:
    never("headscope.studies.training.pretrain.runs.train")
    assert pretrained(folder, finished[1], ways="tokens,next-sentence", keep_steps="2").equals(finished[0])
    with pytest.raises(HeadscopeError, match=r"holds a run with shape 1x2x32, now it is 1x2x8"):
        pretrained(folder, finished[1], ways="tokens", shapes="1x2x8")


@pytest.mark.thorough
def test_workers_train_the_same_models(folder: str, finished: tuple[xr.Dataset, Path], tmp_path: Path) -> None:
    result = pretrained(
        folder, tmp_path, Settings(resamples=20, workers=2), ways="tokens,next-sentence", keep_steps="2"
    )
    xr.testing.assert_allclose(result.drop_vars("train_seconds"), finished[0].drop_vars("train_seconds"), atol=1e-4)


def test_shapes_and_parts_of_the_text_are_compared_as_ways(folder: str, tmp_path: Path) -> None:
    labels = ["tokens 1x2x8 50%", "tokens 1x2x8 100%", "tokens 2x1x8 50%", "tokens 2x1x8 100%"]
    result = pretrained(*(folder, tmp_path), ways="tokens", shapes="1x2x8, 2x1x8", amount="50%,100%", seeds=1, epochs=1)
    assert result["way"].values.tolist() == labels and result.attrs["model"].startswith("1x2x8, 2x1x8: trained")
    models = [
        AutoModelForMaskedLM.from_pretrained(tmp_path / "models" / f"{way.replace(' ', '-')}-0") for way in labels
    ]
    assert [model.num_parameters() for model in models] == result["trained_parameters"].values.tolist()
    assert [model.config.num_hidden_layers for model in models] == [1, 1, 2, 2]


def test_with_one_seed_there_is_no_interval_and_that_is_said(folder: str, tmp_path: Path) -> None:
    result = pretrained(folder, tmp_path, ways="tokens,static", seeds=1, epochs=1)
    assert {"held_out_loss_ci", "frequency_gain_ci"}.isdisjoint(result)
    page = study_page(result)
    findings = {one.topic: one.text for one in (*page.highlights(), *page.findings())}
    assert "one seed has none" in findings["One seed"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ways": "tokens,word"}, "way 'word' is unknown; did you mean 'words'"),
        ({"shapes": "4x4"}, "shape '4x4' is not LAYERSxHEADSxWIDTH; use e.g. 4x4x128"),
        ({"shapes": "4x4x128,2x3x16"}, "a width of 16 is not divisible by 3 heads; use e.g. 2x3x15"),
        ({"amount": "10"}, "amount '10' is no part of the text; use e.g. 10%,100%"),
        ({"ways": "phrases"}, "has no dependency trees; name a treebank"),
        ({"held_out": 0.999}, "1,040 pieces give 0 inputs to train on and 80 held-out ones; use more text"),
    ],
)
def test_what_cannot_be_trained_is_refused(folder: str, tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        pretrained(folder, tmp_path, **given)


def test_a_tokenizer_without_a_mask_is_refused(tmp_path: Path) -> None:
    model = headscope.load("minilm")
    model.tokenizer.mask_token = None
    with pytest.raises(HeadscopeError, match="the tokenizer has no mask token; name a BERT"):
        lab_text(model.tokenizer, TEXT, PretrainingPlan(), 16, 0)

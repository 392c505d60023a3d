"""A head trained on a planted text: its scores, its weights, its mark, and a run that is killed and goes on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM, BertForMaskedLM

import headscope
from headscope import HeadscopeError, Settings, results
from headscope.corpora.tasks import metrics
from headscope.encoding.encoder import Words
from headscope.encoding.masking import IGNORED, Masking
from headscope.outputs.outputs import masked_logits
from headscope.report.study_page import study_page
from headscope.studies.training.pretrain_head.text import held_out_text
from headscope.training import RunRecord
from headscope.training.dataset import MaskedTrainingSet
from headscope.training.piece_frequencies import log_frequencies, piece_counts, unigram_outputs
from support.killed import Killed, kill
from support.small_tasks import tiny_folder
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer
from support.written import corpus

SIZES: dict[str, Any] = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_dropout_prob": 0.02}
WORDS = ("bank", "book", "bird", "cat")
TEXT = [" ".join(WORDS[number % 4] for number in range(8))] * 100
QUICK = Settings(resamples=20)
OPTIONS: dict[str, Any] = {"epochs": 3, "batch": 4, "learning_rate": 1e-2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_folder(tmp_path_factory.mktemp("tiny"), **SIZES))


def pretrained(folder: str, directory: Path, settings: Settings = QUICK, **given: Any) -> xr.Dataset:
    return headscope.pretrain_head(folder, TEXT, settings, directory=directory, **{**OPTIONS, **given})


@pytest.fixture(scope="module")
def finished(folder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, Path]:
    """A run that nothing interrupts, and its folder."""
    directory = tmp_path_factory.mktemp("whole")
    return pretrained(folder, directory), directory


def test_planted_cycle_is_learned(finished: tuple[xr.Dataset, Path]) -> None:
    result = results.check(finished[0])
    assert result["epoch"].values.tolist() == [0, 1, 2, 3]
    assert np.log(4) < float(result["unigram_loss"]) < np.log(8)
    assert float(result["loss"][0]) > 1.3 and float(result["loss"][-1]) < 0.1
    assert float(result["accuracy"][-1]) == 1.0 and float(result["unigram_accuracy"]) < 1
    np.testing.assert_allclose(result["perplexity"], np.exp(result["loss"]))
    assert bool((result["loss_ci"].sel(bound="lower") <= result["loss"]).all())
    assert int(result["loss_n_examples"]) == 10  # one masked token in each of the last tenth of the lines
    assert float(result["loss_gain"][-1]) == pytest.approx(float(result["unigram_loss"] - result["loss"][-1]))
    assert float(result["accuracy_gain"][-1]) == pytest.approx(1 - float(result["unigram_accuracy"]))
    assert bool((result["loss_gain_ci"].sel(bound="lower") <= result["loss_gain"]).all())
    assert int(result["loss_gain_n_examples"]) == 10
    page = {finding.topic: finding.verdict for finding in study_page(result).highlights()}
    assert page["The head predicts masked tokens better than frequencies do"] == "holds"
    assert result.attrs["n_examples"] == 100 and json.loads(result.attrs["recipe"])["mask_share"] == 0.3


def test_loss_is_that_of_transformers_own_forward_pass(finished: tuple[xr.Dataset, Path]) -> None:
    network = AutoModelForMaskedLM.from_pretrained(finished[1] / "model").eval()
    inputs = dict(tiny_tokenizer()([TEXT[0], "the cat sat"], padding=True, return_tensors="pt"))
    labels = torch.full_like(inputs["input_ids"], IGNORED)
    labels[0, 3], labels[1, 1] = inputs["input_ids"][0, 3], inputs["input_ids"][1, 1]
    with torch.no_grad():
        logits, pieces = masked_logits(network, inputs, labels)
        expected = network(**inputs, labels=labels)
    torch.testing.assert_close(torch.nn.functional.cross_entropy(logits, pieces), expected.loss)
    assert expected.logits.shape[1] == inputs["input_ids"].shape[1], "the hook stays"


def test_model_is_ordinary_and_its_head_is_tied(finished: tuple[xr.Dataset, Path], folder: str) -> None:
    network = AutoModelForMaskedLM.from_pretrained(finished[1] / "model")
    assert isinstance(network, BertForMaskedLM)
    embeddings, output = network.get_input_embeddings(), network.get_output_embeddings()
    assert output is not None and output.weight is embeddings.weight
    assert "cls.predictions.decoder.weight" not in load_file(finished[1] / "model" / "model.safetensors")
    assert set(finished[0].attrs["new_weights"].split(", ")) == {
        name for name, _ in network.named_parameters() if name.startswith("cls.")
    }
    model = headscope.load(str(finished[1] / "model"), head=True)
    assert model.network.config.architectures == ["BertForMaskedLM"]
    with pytest.raises(HeadscopeError, match="has a head for masked words; use it as it is"):
        pretrained(str(finished[1] / "model"), finished[1].parent / "again")


def test_later_results_and_pages_have_the_mark(finished: tuple[xr.Dataset, Path], folder: str, tmp_path: Path) -> None:
    note = f"new, trained by headscope pretrain-head on list (3 epochs, encoder trained); the encoder was {folder}"
    assert finished[0].attrs["adapted_head"] == note
    model = headscope.load(str(finished[1] / "model"))
    result = headscope.profile(model, TEXT[:4], QUICK)
    assert result.attrs["adapted_head"] == note
    assert note in headscope.write_report(result, tmp_path, formats=()).read_text(encoding="utf-8")
    assert "adapted_head" not in headscope.profile(folder, TEXT[:4], QUICK).attrs
    compared = headscope.compare((folder, model), TEXT[:4], QUICK)
    assert compared.attrs["adapted_head"].endswith(note)


def test_gradients_use_the_loss_of_masked_words(finished: tuple[xr.Dataset, Path], folder: str) -> None:
    losses = [headscope.gradients(path, TEXT[:4], QUICK).attrs["loss"] for path in (folder, str(finished[1] / "model"))]
    assert [loss.partition(":")[0] for loss in losses] == ["sentence embedding", "masked words"]


def test_the_best_epoch_is_kept_where_asked(folder: str, tmp_path: Path) -> None:
    losses = pretrained(folder, tmp_path, keep="best", learning_rate=0.3, warmup=0.0)["loss"].values[1:]
    model = headscope.load(str(tmp_path / "model"), head=True)
    held_out = held_out_text(model, headscope.read(TEXT), 0.1, 128, QUICK)
    examples = held_out.examples(model.tokenizer, Masking(), QUICK.seed)
    kept = metrics.loss(examples.outputs(model, QUICK), examples.targets)
    assert losses.argmin() < len(losses) - 1 and kept == pytest.approx(losses.min(), abs=1e-4)


def test_frozen_encoder_stays_as_it_was(folder: str, tmp_path: Path) -> None:
    result = pretrained(folder, tmp_path, encoder="frozen", epochs=1)
    before, after = load_file(Path(folder) / "model.safetensors"), load_file(tmp_path / "model" / "model.safetensors")
    assert all(torch.equal(after[f"bert.{name}"], before[name]) for name in before if "pooler" not in name)
    assert "encoder frozen" in result.attrs["adapted_head"]


@pytest.mark.parametrize(
    ("name", "call"),
    [("keep_checkpoint", 5), pytest.param("keep_checkpoint", 12, marks=pytest.mark.thorough), ("save_outputs", 2)],
)
def test_interrupted_run_ends_with_the_same_weights(
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
            pretrained(folder, tmp_path)
    done: list[int] = []
    result = pretrained(folder, tmp_path, Settings(resamples=20, on_progress=done.append))
    assert done[0] > 0, "it began anew"
    assert result.equals(finished[0])
    weights = [path / "model" / "model.safetensors" for path in (tmp_path, finished[1])]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_completed_run_is_not_repeated_and_other_settings_are_refused(
    folder: str, finished: tuple[xr.Dataset, Path], never: Callable[[str], None]
) -> None:
    never("headscope.studies.training.pretrain_head.study.train")
    assert pretrained(folder, finished[1]).equals(finished[0])
    with pytest.raises(HeadscopeError, match=r"holds a run with mask_share 0\.3, now it is 0\.15"):
        pretrained(folder, finished[1], mask_share=0.15)


def test_masks_are_new_in_each_epoch_of_the_training(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, list[list[int]]]] = []
    loss = MaskedTrainingSet.loss

    def noted(examples: Any, network: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        seen.append((examples.epoch, batch["labels"].tolist()))
        return loss(examples, network, batch)

    monkeypatch.setattr("headscope.training.dataset.MaskedTrainingSet.loss", noted)
    pretrained(folder, tmp_path, batch=100, epochs=3)
    assert [epoch for epoch, _ in seen] == [0, 1, 2]
    assert len(seen[0][1]) == 90
    assert sum(one != other for one, other in zip(seen[0][1], seen[1][1], strict=True)) > 45


def test_unigram_baseline_sums_the_losses_of_an_input() -> None:
    frequencies = np.log(np.array([0.5, 0.3, 0.2]))
    pieces = [np.array([IGNORED, 0, 2]), np.array([1, IGNORED, IGNORED])]
    outputs = unigram_outputs(pieces, frequencies)
    np.testing.assert_allclose(outputs, [[-np.log(0.5 * 0.2), 2, 1], [-np.log(0.3), 1, 0]])


def test_frequencies_count_every_piece_that_may_be_masked(folder: str) -> None:
    model = headscope.load(folder)
    inputs = list(Words(model.tokenizer, 64).encode(headscope.read(TEXT[:2])))
    counts = piece_counts(inputs, model.tokenizer, len(model.tokenizer))
    assert counts.sum() == 16 and counts[model.tokenizer.convert_tokens_to_ids("cat")] == 4
    # [CLS] and [SEP], the most frequent in short lines, are never to be predicted.
    assert counts.argmax() not in model.tokenizer.all_special_ids


def test_a_head_that_learned_frequencies_alone_is_no_better_than_they_are() -> None:
    """Of four pieces in a large vocabulary the loss is the entropy, within two thousandths of a nat."""
    frequencies = log_frequencies(np.array([180] * 4 + [0] * 30_000))
    assert -frequencies[:4].mean() == pytest.approx(np.log(4), abs=0.002)


def test_model_that_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.mask_token = None
    save_tiny(tmp_path / "model", tiny_bert(**SIZES), tokenizer)
    with pytest.raises(HeadscopeError, match="tokenizer has no mask"):
        pretrained(str(tmp_path / "model"), tmp_path / "out")


def test_a_head_that_is_no_better_than_frequencies_claims_nothing(finished: tuple[xr.Dataset, Path]) -> None:
    def verdict(result: xr.Dataset) -> str | None:
        return next(finding.verdict for finding in study_page(result).findings() if "frequencies" in finding.topic)

    result = finished[0].isel(epoch=[0])
    assert result["loss_gain"].item() < 0.05 and verdict(result) in ("fails", "undecided")
    one = finished[0].copy()
    one["loss_gain_n_examples"] = one["loss_gain_n_examples"] * 0 + 1
    assert verdict(one) == "undecided"


def test_inputs_of_a_document_are_resampled_together(folder: str) -> None:
    model, text = headscope.load(folder), "\n\n".join("\n".join(TEXT[:2]) for _ in range(10))
    inputs = held_out_text(model, corpus("x.txt", text), 0.5, 64, QUICK).dev
    units = [encoded.unit for encoded in inputs]
    assert len(units) == 10 and len(set(units)) == 5

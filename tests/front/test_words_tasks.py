"""`--task words:CORPUS`: the six commands that take a text as their task, on a decoder and on a masked model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import BertForMaskedLM, GPT2LMHeadModel

from headscope import results
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert, tiny_gpt2

TEXTS = ("The cat saw the old bird.", "A dog ran.", "She was in town, not at school.", "They sat by the river.") * 10
NETWORKS = {"decoder": (tiny_gpt2, GPT2LMHeadModel), "masked": (tiny_bert, BertForMaskedLM)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    (folder / "texts.txt").write_text("\n".join(f"{text} {n}" for n, text in enumerate(TEXTS)), encoding="utf-8")
    for name, (network, kind) in NETWORKS.items():
        save_tiny(folder / name, network(kind=kind))
    save_tiny(folder / "headless")
    return folder


def run(folder: Path, command: str, model: str, *options: Any, out: str = "") -> Any:
    task, out = ("--task", f"words:{folder / 'texts.txt'}"), out or f"{command}-{model}"
    done = run_command(command, folder / model, *task, *options, "-o", folder / out, "--resamples", 20, "--no-figures")
    assert done.exit_code == 0, done.output
    return results.read(folder / out)


@pytest.mark.parametrize("model", NETWORKS)
def test_heads_are_scored_by_the_loss_of_words(folder: Path, model: str) -> None:
    found = run(folder, "ablate", model, "--heads", "1-1,2-2")
    assert found["metric"].values.tolist() == ["loss", "perplexity", "bits_per_character"]
    scores = found["baseline"]
    assert float(scores.sel(metric="perplexity")) == pytest.approx(np.exp(float(scores.sel(metric="loss"))))
    assert float(found["head_gain"].std()) > 0 and found["importance"].notnull().all()
    assert found.attrs["resampled"] == "examples, taken as independent" and found["head_gain_ci"].notnull().all()
    alone = run(folder, "ablate", model, "--heads", "1-1,2-2", "--no-single", out=f"set-{model}")
    assert "head_gain" not in alone and alone["set_gain"].equals(found["set_gain"])


@pytest.mark.parametrize("model", NETWORKS)
def test_a_smaller_model_is_scored_by_the_loss_of_words(folder: Path, model: str) -> None:
    found = run(folder, "prune", model, "--share", 0.25, "--step", 0.25)
    assert found["pruned_score"].sel(metric="loss").diff("share_removed").item() != 0


@pytest.mark.parametrize("model", NETWORKS)
def test_gradients_are_those_of_the_loss_of_words(folder: Path, model: str) -> None:
    found = run(folder, "gradients", model)
    assert found.attrs["loss"].startswith("next words" if model == "decoder" else "masked words")


@pytest.mark.parametrize("model", NETWORKS)
def test_training_on_words_lowers_their_loss(folder: Path, model: str) -> None:
    found = run(folder, "finetune", model, "--epochs", 2, "--learning-rate", 0.01, "--batch", 8)
    assert found["epoch_score"].sel(metric="loss").diff("epoch").item() < 0
    sizes = ("--positions", 2, "--directions", 2, "--plane", 2, "--loss-examples", 8)
    line = run(folder, "landscape", model, "--tuned", folder / f"finetune-{model}" / "model", "--beyond", 0, *sizes)
    assert float(line["line_loss"][0, -1]) < float(line["line_loss"][0, 0])


@pytest.mark.parametrize("model", NETWORKS)
def test_a_shrunk_language_model_says_its_loss(folder: Path, model: str) -> None:
    found = run(folder, "shrink", model, "--size", "80%", "--epochs", 1, "--groups", 2, "--best-effort")
    loss, perplexity = (found["shrunk_words"].sel(words_metric=name).item() for name in ("loss", "perplexity"))
    assert perplexity == pytest.approx(np.exp(loss)) and found["words_change"].notnull().all()
    card = (folder / f"shrink-{model}" / "model" / "README.md").read_text(encoding="utf-8")
    assert f"| perplexity | {found['whole_words'].sel(words_metric='perplexity').item():.3f} |" in card


def test_refusals(folder: Path) -> None:
    task = ("--task", f"words:{folder / 'texts.txt'}", "-o", folder / "refused")
    for command, model, options, words in (
        ("ablate", "headless", (), "train one with 'headscope pretrain-head'"),
        ("finetune", "headless", (), "train one with 'headscope pretrain-head'"),
        ("gradients", "headless", (), "train one with 'headscope pretrain-head'"),
        ("ablate", "decoder", ("--data", folder), "its name already names its corpus; leave out --data"),
        ("ablate", "decoder", ("--no-single",), "disables the sets of --heads alone; name one"),
        ("finetune", "decoder", ("--init", "frozen"), "its head for words is its embeddings"),
        ("finetune", "masked", ("--ways", "mix"), "way 'mix' trains a classifier"),
    ):
        done = run_command(command, folder / model, *task, *options)
        assert done.exit_code == 2 and words in done.output, (command, done.output)

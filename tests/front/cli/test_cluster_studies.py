"""Studies of all kinds by workers of a cluster without one: the bits of one process."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import BertForMaskedLM

from headscope import results
from headscope.passes import array_files
from support.cli import run_command
from support.same import assert_same
from support.threaded_ray import use_threaded_ray
from support.tiers import chosen
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

OPTIONS = ("--resamples", 5, "--batch-tokens", 100, "--no-figures")
SAMPLE = ("sample", "--limit", 30, "--examples", 0)
TRAINING = ("--train", "sample", "--train-limit", 20, "--epochs", 1)
TASK = ("--task", "made", "--data", "task")
# Counts, then tallies; two passes with lists; arrays in files, of two corpora and two models; items; units of a sweep;
# runs of a table in two sets, of which the second depends on the first.
STUDIES: dict[str, tuple[object, ...]] = {
    "profile": (*SAMPLE, "--predicted-frequency"),
    "geometry": SAMPLE,
    "probe": (*SAMPLE, *TRAINING, "--seeds", 1),
    "structure": (*SAMPLE, *TRAINING, "--rank", 2),
    "layers": (*SAMPLE, "--tasks", "part_of_speech", "--no-codes", "--no-mix"),
    "ablate": SAMPLE,
    "cloze": ("items.jsonl",),
    "finetune": (*TASK, "--seeds", 3, "--epochs", 2, "--batch", 4, "--stop-bad-seeds", 0.4, "--head-examples", 4),
}
NOUNS = ("dog", "bird", "tree", "house", "man", "cat", "river", "garden")
# They keep arrays in files, as the probe does.
REPEATED = ("structure", "layers")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    network = tiny_bert(0, BertForMaskedLM, hidden_size=8, num_hidden_layers=2, num_attention_heads=2)
    return save_tiny(tmp_path_factory.mktemp("model"), network, tiny_tokenizer())


def run(*words: object) -> Any:
    given = [str(word) for word in words]
    done = run_command(*given)
    assert done.exit_code == 0, done.output
    return results.read(Path(given[-1])), done.output


@pytest.mark.parametrize("study", chosen(STUDIES, lambda study: study not in REPEATED))
def test_workers_of_a_cluster_give_the_bits_of_one_process(
    study: str,
    model: Path,
    tmp_path: Path,
    pages_not_written: None,
    six_in_a_shard: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = use_threaded_ray(monkeypatch)
    monkeypatch.setattr(array_files, "PIECE", 1000)
    monkeypatch.setattr("headscope.studies.words.cloze.scoring.ITEMS", 4)
    monkeypatch.chdir(tmp_path)
    items = [{"good": f"the {noun} sat", "bad": "the cat ran"} for noun in NOUNS[:5]]
    Path("items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    Path("task").mkdir()
    for split in ("train", "dev"):
        rows = [f"the {noun} saw the {noun}\t{number % 2}" for number, noun in enumerate(NOUNS)]
        Path("task", f"{split}.tsv").write_text("\n".join(["sentence\tlabel", *rows, ""]))
    one, _ = run(study, model, *STUDIES[study], *OPTIONS, "-o", "one")
    several, _ = run(study, model, *STUDIES[study], *OPTIONS, "--engine", "ray", "-o", "several")
    assert_same(several, one)
    assert len(ray.actors) == len(ray.killed) == 1

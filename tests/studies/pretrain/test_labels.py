"""Labels in the place of segments: what they tell of a text is learned, and nothing where they tell nothing."""

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

import headscope
from headscope import Settings
from headscope.corpora import Corpus, read
from headscope.errors import HeadscopeError
from headscope.studies.training.pretrain.labels import label_numbers
from headscope.studies.training.pretrain.plan import PlannedModel, PretrainingPlan, Schedule, Shape
from headscope.studies.training.pretrain.runs import PretrainingRun
from headscope.studies.training.pretrain.text import LabText, lab_text
from support.small_tasks import tiny_folder
from support.tiny import tiny_tokenizer

WORDS = {"animals": ("cat", "dog"), "places": ("tree", "town"), "both": ("bird", "saw")}


def table(folder: Path, labels: tuple[str, ...], *, number: int = 1600, planted: bool = True) -> Corpus:
    """Texts of one word, a random one of those of their label; else the label is a random one."""
    random, lines = np.random.default_rng(0), ["text\tlabel"]
    for _ in range(number):
        label, word = (labels[int(random.integers(len(labels)))] for _ in range(2))
        lines.append(f"{random.choice(WORDS[label])}\t{label if planted else word}")
    path = folder / "texts.tsv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return read(str(path))


def run(text: LabText, way: str) -> PretrainingRun:
    recipe = Schedule(max_tokens=16).recipe
    return PretrainingRun(PlannedModel(way, way, Shape(1, 2, 8)), 3, recipe, text, {}, Path("unused"))


def test_each_token_has_the_label_of_its_text_and_special_ones_the_nearest(tmp_path: Path) -> None:
    text = lab_text(tiny_tokenizer(), table(tmp_path, (*WORDS,), number=90), PretrainingPlan(ways="labels"), 16, 0)
    assert text.labels == {"animals": 0, "both": 1, "places": 2}
    label_of = {
        text.tokenizer.convert_tokens_to_ids(word): text.labels[label] for label in WORDS for word in WORDS[label]
    }
    examples = run(text, "labels").examples
    for encoded in (*examples.train.inputs, *text.held_out(run(text, "labels").way)):
        ids, labels = (encoded.inputs[name].tolist() for name in ("input_ids", "token_type_ids"))
        wanted = [label_of.get(piece, -1) for piece in ids]
        middle = wanted.index(-1, 1)
        wanted[0], wanted[middle], wanted[-1] = wanted[1], wanted[middle - 1], wanted[-2]
        assert labels == wanted and len(set(labels)) > 1
    assert {1, 0} == set(np.concatenate([encoded.inputs["token_type_ids"] for encoded in text.dev]))


def test_all_weights_but_those_of_labels_are_those_of_other_ways(tmp_path: Path) -> None:
    for labels in (("animals", "places"), (*WORDS,)):
        text = lab_text(tiny_tokenizer(), table(tmp_path, labels, number=90), PretrainingPlan(ways="labels"), 16, 0)
        plain, labelled = (dict(run(text, way).start().network.named_parameters()) for way in ("tokens", "labels"))
        other = {name for name in plain if plain[name].shape != labelled[name].shape}
        assert len(other) == len(labels) - 2 and all("token_type" in name for name in other)
        assert all(torch.equal(plain[name], labelled[name]) for name in plain.keys() - other)


@pytest.mark.parametrize("planted", [True, False], ids=["planted", "random"])
def test_what_labels_tell_is_learned_and_nothing_of_random_ones(tmp_path: Path, *, planted: bool) -> None:
    """Four words are equally frequent, and two of each label: ln 4 without the label, ln 2 with it."""
    corpus, folder = table(tmp_path, ("animals", "places"), planted=planted), str(tiny_folder(tmp_path / "tiny"))
    given: dict[str, Any] = {"ways": "tokens,labels", "seeds": 1, "shapes": "1x2x16", "batch": 8, "epochs": 3}
    given |= {"learning_rate": 1e-2, "max_tokens": 16, "vocabulary": folder, "directory": tmp_path / "lab"}
    result = headscope.pretrain(corpus, Settings(resamples=20), **given)
    last = result["held_out_loss"].isel(step=-1)
    assert float(last.sel(way="tokens")) == pytest.approx(log(4), abs=0.08)
    assert float(last.sel(way="labels")) == pytest.approx(log(2 if planted else 4), abs=0.08)


def test_a_model_of_three_labels_is_ordinary(tmp_path: Path) -> None:
    corpus, folder = table(tmp_path, (*WORDS,), number=200), str(tiny_folder(tmp_path / "tiny"))
    given: dict[str, Any] = {"ways": "labels", "seeds": 1, "shapes": "1x2x8", "epochs": 1, "max_tokens": 16}
    headscope.pretrain(corpus, Settings(resamples=20), vocabulary=folder, directory=tmp_path / "lab", **given)
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "lab" / "models" / "labels-0")
    assert model.bert.embeddings.token_type_embeddings.weight.shape == (3, 8)
    headscope.load(str(tmp_path / "lab" / "models" / "labels-0"))


def test_texts_without_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("the cat\nthe dog\n", encoding="utf-8")
    with pytest.raises(HeadscopeError, match=r"has 0 labels, way 'labels' needs 2 to 100; use a table with a column"):
        label_numbers(read(str(tmp_path / "plain.txt")))
    rows = "".join(f"the cat\t{label}\n" for label in ("good", "bad", ""))
    (tmp_path / "some.tsv").write_text(f"text\tlabel\n{rows}", encoding="utf-8")
    with pytest.raises(HeadscopeError, match=r"1 of 3 examples have no label, .* leave them out of the file"):
        label_numbers(read(str(tmp_path / "some.tsv")))
    rows = "".join(f"the cat\t{score / 8}\n" for score in range(101))
    (tmp_path / "scores.tsv").write_text(f"text\tlabel\n{rows}", encoding="utf-8")
    with pytest.raises(HeadscopeError, match="has 101 labels, way 'labels' needs 2 to 100"):
        label_numbers(read(str(tmp_path / "scores.tsv")))

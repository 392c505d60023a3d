"""Attention to the pieces of a small vocabulary, at distances up to eight, and to classes of words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import HeadscopeError, Settings
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.studies.heads.profile.group_parts import preferred
from support.letters import letter_model, planted_letters, sequences
from support.small_model import small_model

QUICK = Settings(resamples=20)


def classed(rows: list[str], regions: int = 3) -> str:
    """Sequences as words with classes: a letter's place decides its region, which some places lack."""
    names = [["_" if at == 4 else f"R{at % regions}" for at in range(len(row))] for row in rows]
    texts = ["".join(map("{}\t{}\n".format, *pair)) for pair in zip(rows, names, strict=True)]
    return "\n".join(f"# s{number}\n{text}" for number, text in enumerate(texts))


def of_classes(folder: Path, text: str) -> headscope.Corpus:
    """A corpus of words with classes."""
    (folder / "x.tsv").write_text(text)
    return headscope.read(folder / "x.tsv", kind="classes")


@torch.inference_mode()
def naive(model: headscope.Model, row: str) -> dict[str, dict[object, np.ndarray]]:
    """Shares, multiples and attention at distances of one sequence, by loops over tokens."""
    network = model.network
    network.set_attn_implementation("eager")
    inputs = model.tokenizer(" ".join(row), return_tensors="pt")
    maps = torch.stack(network(**inputs, output_attentions=True).attentions)[:, 0].double().numpy()
    share: dict[object, np.ndarray] = {}
    times: dict[object, np.ndarray] = {}
    far: dict[object, np.ndarray] = {}
    tokens = len(row) + 2
    regions = [None if at == 4 else f"R{at % 3}" for at in range(len(row))]
    for group in {*row, "R0", "R1", "R2"}:
        keys = [at + 1 for at in range(len(row)) if group in (row[at], regions[at])]
        given: Any = sum(maps[:, :, query, key] for query in range(1, tokens - 1) for key in keys)
        share[group] = given / len(row)
        times[group] = given / (len(row) * len(keys) / tokens)
    for distance in range(-8, 9):
        at = [maps[:, :, query, query + distance] for query in range(tokens) if 0 <= query + distance < tokens]
        far[distance] = np.mean(at, axis=0)
    return {"attention": share, "multiple": times, "distance": far}


def test_shares_multiples_and_distances_are_those_of_loops_over_tokens(tmp_path: Path) -> None:
    model, rows = letter_model(), [*(row.replace(" ", "") for row in sequences(3, 12)), "QVQ" * 4]
    result = headscope.profile(model, of_classes(tmp_path, classed(rows)), QUICK)
    expected = [naive(model, row) for row in rows]
    for name, dim, kind in (
        ("piece_attention", "piece", "attention"),
        ("piece_multiple", "piece", "multiple"),
        ("word_class_attention", "word_class", "attention"),
        ("word_class_multiple", "word_class", "multiple"),
        ("attention_distance", "from_query", "distance"),
    ):
        for label in result[dim].values.tolist():
            values = [one[kind][label] for one in expected if label in one[kind]]
            found = result[name].sel({dim: label}).values
            assert np.isnan(found).all() if not values else np.abs(np.mean(values, 0) - found).max() < 1e-5, (
                name,
                label,
            )
    assert result["word_class"].values.tolist() == ["R0", "R1", "R2"]
    assert result["piece"].size == 20


def test_no_vocabulary_of_words_has_these_numbers() -> None:
    result = headscope.profile(small_model(), ["the cat saw the bird."], QUICK)
    assert not {"piece_attention", "attention_distance", "word_class_attention"} & set(result)


def test_too_many_classes_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"A\t{number}\n" for number in range(301))
    with pytest.raises(HeadscopeError, match="301 classes of words; at most 300 are compared; give several words"):
        headscope.profile(letter_model(), of_classes(tmp_path, rows), QUICK)


def clearest(model: headscope.Model, rows: list[str]) -> Finding:
    """What the page says of the pieces of a model."""
    return preferred(Numbers(headscope.profile(model, rows, Settings(resamples=50))), dim="piece")


def test_a_planted_head_is_named_with_its_piece() -> None:
    finding = clearest(planted_letters((1, 2), "S"), sequences(20, 20))
    assert finding.verdict == "holds"
    assert finding.topic.startswith("Head 1-2 gives S 100% of its attention, ")


@pytest.mark.parametrize(("sharp", "seed"), [(0.1, 0), (1.0, 1), (4.0, 2)])
def test_random_weights_prefer_no_piece(sharp: float, seed: int) -> None:
    assert clearest(letter_model(seed, sharp), sequences(20, 20)).verdict != "holds"

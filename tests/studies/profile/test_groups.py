"""Attention to the pieces of a small vocabulary, at distances up to eight, and to classes of words."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import HeadscopeError, Settings
from headscope.capture.observer import small_blocks
from headscope.corpora.readers.fasta import AMINO_ACIDS
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.study_page import study_page
from headscope.studies.heads.profile.group_parts import preferred
from support.findings import all_texts_of
from support.letters import SPECIAL, letter_model, letter_tokenizer, planted_letters, sequences
from support.planted import CERTAIN, HIDDEN, PIECES, WIDTH, Head, planted
from support.small_model import small_model
from support.tiny import tiny_gpt2

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
def naive(model: headscope.Model, row: str) -> dict[str, Any]:
    """Shares, multiples and attention at distances of one sequence, by loops over tokens."""
    network = model.network
    network.set_attn_implementation("eager")
    inputs = model.tokenizer(" ".join(row), return_tensors="pt")
    maps = torch.stack(network(**inputs, output_attentions=True).attentions)[:, 0].double().numpy()
    share: dict[object, np.ndarray] = {}
    times: dict[object, np.ndarray] = {}
    far: dict[object, np.ndarray] = {}
    pairs: dict[object, list[np.ndarray]] = defaultdict(list)
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
    for query, piece in enumerate(row, 1):
        seen = tokens if model.looks_ahead else query + 1
        for other in {*row[: seen - 1]}:
            keys = [at for at, letter in enumerate(row[: seen - 1], 1) if letter == other]
            pairs[piece, other].append(sum((maps[:, :, query, key] for key in keys), start=np.zeros(maps.shape[:2])))
            pairs[piece, other, "over its share"].append(pairs[piece, other][-1] / (len(keys) / seen))
    return {"attention": share, "multiple": times, "distance": far, "pairs": dict(pairs)}


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
    assert_pairs(result, expected)
    assert result["word_class"].values.tolist() == ["R0", "R1", "R2"]
    assert result["piece"].size == 20


def assert_pairs(result: xr.Dataset, expected: list[dict[str, Any]]) -> None:
    """What pieces give pieces is that of the loops, and is there where these have tokens."""
    for key in {key for one in expected for key in one["pairs"]}:
        values = [value for one in expected for value in one["pairs"].get(key, ())]
        name = "piece_pair_multiple" if key[2:] else "piece_pair_attention"
        at = dict(zip(("from_piece", "piece"), key, strict=False))
        np.testing.assert_allclose(result[name].sel(at), np.mean(values, 0), rtol=1e-5, atol=1e-5)
        assert result[f"{name}_n_examples"].sel(at) == len(values)
    assert result["piece_pair_attention"].notnull().any(("layer", "head")).sum() * 2 == len(
        {key for one in expected for key in one["pairs"]}
    )


def test_a_causal_model_gives_pieces_that_it_has_seen() -> None:
    model = headscope.wrap(tiny_gpt2(vocab_size=25), letter_tokenizer())
    rows = sequences(3, 12)
    assert_pairs(headscope.profile(model, rows, QUICK), [naive(model, row.replace(" ", "")) for row in rows])


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


def test_a_planted_head_is_named_with_the_pieces_that_it_looks_from_and_to() -> None:
    """From A it looks at C, from all others everywhere."""
    first, second = (PIECES[[*PIECES][len(SPECIAL) + AMINO_ACIDS.index(letter)]] for letter in "AC")
    query, key = torch.zeros(2, WIDTH, HIDDEN)
    query[0, first], key[0, second] = CERTAIN, 1
    model = headscope.wrap(planted({(2, 3): Head(query, key)}), letter_tokenizer())
    rows = [f"A C {row}" for row in sequences(20, 20)]
    result = headscope.profile(model, rows, QUICK)
    share = result["piece_pair_attention"].sel(piece="C").stack(case=("layer", "head", "from_piece"))
    *_, second_largest, largest = np.sort(share.values)
    assert share.idxmax("case").item() == (2, 3, "A") and largest > 0.999 and second_largest < 0.3
    assert "piece_pair_attention_ci" not in result
    text = all_texts_of(result)["From piece to piece"]
    assert text.startswith("Heads and what they give: 2-3 from A to C 100% (")
    names = [figure.name for figure in study_page(result).figures()]
    assert {"piece_pair_attention-head", "piece_pair_multiple-head"} <= {*names}
    assert [figure.caption[:9] for figure in study_page(result).card().figures(result, 1, 1)] == ["Head 1-1."] * 2


def test_blocks_and_batches_do_not_change_what_pieces_give_pieces() -> None:
    model, rows = letter_model(), sequences(4, 8)
    result = headscope.profile(model, rows, QUICK)
    with small_blocks():
        again = headscope.profile(model, rows, replace(QUICK, batch_tokens=25))
    for name in ("piece_pair_attention", "piece_pair_multiple", "piece_pair_attention_n_examples"):
        np.testing.assert_allclose(again[name], result[name], atol=1e-5)


@pytest.mark.parametrize(("sharp", "seed"), [(0.1, 0), (1.0, 1), (4.0, 2)])
def test_random_weights_prefer_no_piece(sharp: float, seed: int) -> None:
    assert clearest(letter_model(seed, sharp), sequences(20, 20)).verdict != "holds"

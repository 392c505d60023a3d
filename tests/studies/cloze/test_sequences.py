"""Each residue of a sequence masked alone: equal to a loop over plain transformers."""

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import headscope
from headscope import HeadscopeError, Settings
from headscope.corpora.suites import read_suites
from headscope.report.numbers import Numbers
from headscope.studies.words.cloze import tables
from headscope.studies.words.cloze.page import perplexity
from support.letters import letter_model, sequences

ROWS = [row.replace(" ", "") for row in sequences(5, 5)]
QUICK = Settings(resamples=40)


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def fasta(folder: Path) -> str:
    """Sequences, one in small letters, two of one name."""
    rows = [ROWS[0].lower(), *ROWS[1:]]
    return written(folder, "x.fasta", "".join(f">s{min(at, 3)}\n{row}\n" for at, row in enumerate(rows)))


@torch.inference_mode()
def naive(model: headscope.Model, row: str) -> list[tuple[str, float, int]]:
    """Of each residue the log-probability and the rank among residues, masked alone."""
    found = []
    for at, letter in enumerate(row):
        inputs = model.tokenizer(" ".join([*row[:at], "[MASK]", *row[at + 1 :]]), return_tensors="pt")
        scores = model.network(**inputs).logits[0, at + 1].double().log_softmax(-1)
        right = model.tokenizer.convert_tokens_to_ids(letter)
        special = model.tokenizer.all_special_ids
        rank = 1 + sum(float(scores[piece]) > float(scores[right]) for piece in range(25) if piece not in special)
        found.append((letter, float(scores[right]), rank))
    return found


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return letter_model(kind=BertForMaskedLM)


def test_perplexity_probability_and_rank_are_those_of_masking_each_residue_alone(
    model: headscope.Model, tmp_path: Path
) -> None:
    result = headscope.cloze(model, fasta(tmp_path), QUICK, random=False, controls=False)
    cases = [case for row in ROWS for case in naive(model, row)]
    loss, rank = -np.array([score for _, score, _ in cases]), np.array([rank for *_, rank in cases])
    expected = {
        "accuracy": (rank == 1).mean(),
        "perplexity": np.exp(loss.mean()),
        "answer_probability": np.exp(-loss).mean(),
        "answer_rank": np.exp(np.log(rank).mean()),
    }
    for name, value in expected.items():
        assert float(result[name].sel(phenomenon="x")) == pytest.approx(value, rel=1e-5), name
    by_letter = defaultdict(list)
    for letter, score, _ in cases:
        by_letter[letter].append(-score)
    assert result["answer"].values.tolist() == sorted(by_letter)
    means = [np.exp(np.mean(by_letter[letter])) for letter in sorted(by_letter)]
    np.testing.assert_allclose(result["perplexity_by_answer"], means, rtol=1e-5)
    assert float(result["answer_share"].sum()) == pytest.approx(1)
    assert '"small letters, read as capitals": 5' in result.attrs["skipped"]
    assert [finding.topic for finding in perplexity(Numbers(result))] == [f"X: perplexity {expected['perplexity']:.2f}"]
    assert len(tables.answers(Numbers(result)).rows) == len(by_letter)


def test_classes_are_phenomena_and_their_most_frequent_residue_is_the_baseline(
    model: headscope.Model, tmp_path: Path
) -> None:
    """Place 0 is always Q."""
    rows = [f"Q{row}" for row in ROWS]
    lines = ["".join(f"{letter}\t{min(at, 2) if at != 1 else '_'}\n" for at, letter in enumerate(row)) for row in rows]
    source = "classes:" + written(tmp_path, "x.tsv", "\n".join(lines))
    result = headscope.cloze(model, source, QUICK, random=False, controls=False)
    assert result["phenomenon"].values.tolist() == ["0", "no class", "2"]
    assert float(result["accuracy_of_most_frequent"].sel(phenomenon="0")) == 1
    case = [naive(model, row)[0] for row in rows]
    assert float(result["perplexity"].sel(phenomenon="0")) == pytest.approx(
        np.exp(-np.mean([score for _, score, _ in case])), rel=1e-5
    )


def test_all_items_of_a_sequence_are_resampled_together(model: headscope.Model, tmp_path: Path) -> None:
    one = headscope.cloze(model, written(tmp_path, "one.fa", f">a\n{ROWS[0]}\n"), QUICK, random=False, controls=False)
    names = [name for name in one if str(name).endswith("_ci") and np.isfinite(one[name]).any()]
    assert not names  # one sequence says nothing of others
    (suite,) = read_suites([fasta(tmp_path)])
    assert Counter(item.document for item in suite.items) == Counter(
        {"s0": 5, "s1": 6, "s2": 7, "s3": len(ROWS[3]) + len(ROWS[4])}
    )


def test_lines_without_headers_and_what_cannot_be_read(tmp_path: Path) -> None:
    (suite,) = read_suites(["fasta:" + written(tmp_path, "x.txt", "QVQ\n\nlv-*\n")])
    assert [item.good.context for item in suite.items][-2:] == ["[MASK] V", "L [MASK]"]
    assert suite.skipped == {"small letters, read as capitals": 2, "gaps": 1, "stops (*)": 1}
    for name, text, problem in (
        ("y.fa", ">a\nQV7\n", "line 1: '7' in its sequence is no letter; correct it, or leave such"),
        ("z.fa", ">a\n", r"has no items \(1 headers without a sequence\)"),
    ):
        with pytest.raises(HeadscopeError, match=problem):
            read_suites([written(tmp_path, name, text)])

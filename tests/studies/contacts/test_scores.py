"""Contacts that attention predicts are those that loops over its definition find."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

import headscope
from headscope import HeadscopeError, Settings
from headscope.studies.heads.contacts.observer import corrected
from headscope.studies.heads.contacts.pairs import read_contacts
from headscope.studies.heads.contacts.scores import precision
from support.letters import esm, letter_model, prot_bert, sequences

QUICK = Settings(resamples=20)
PAIRS = "name\ti\tj\ns0\t1\t12\ns0\t13\t2\ns1\t3\t9\ns1\t3\t4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four sequences, of which two have contacts."""
    rows = [row.replace(" ", "") for row in sequences(4, 14)]
    (tmp_path / "x.fasta").write_text("".join(f">s{number} of a test\n{row}\n" for number, row in enumerate(rows)))
    (tmp_path / "x.tsv").write_text(PAIRS)
    return tmp_path


@torch.inference_mode()
def naive(network: PreTrainedModel, ids: torch.Tensor, contacts: set[tuple[int, int]], apart: int) -> np.ndarray:
    """Precision of each head at L/5, L/2 and L of one sequence, by loops over its residues."""
    network.set_attn_implementation("eager")
    maps = torch.stack(network(ids, output_attentions=True).attentions)[:, 0, :, 1:-1, 1:-1].double().numpy()
    length, columns = maps.shape[-1], []
    for layer, head in np.ndindex(maps.shape[:2]):
        both = maps[layer, head] + maps[layer, head].T
        scores = [
            (both[i, j] - both[i].sum() * both[j].sum() / both.sum(), (i, j))
            for i in range(length)
            for j in range(i + apart, length)
        ]
        ordered = [pair for _, pair in sorted(scores, reverse=True)]
        columns.append([np.mean([pair in contacts for pair in ordered[: length // part]]) for part in (5, 2, 1)])
    return np.array(columns).reshape(*maps.shape[:2], 3)


def test_precision_of_heads_is_that_of_loops_over_residues(folder: Path) -> None:
    model, corpus = letter_model(), headscope.read(folder / "x.fasta")
    result = headscope.contacts(model, corpus, QUICK, contacts=folder / "x.tsv")
    ids = [model.tokenizer(example.first[0].text, return_tensors="pt")["input_ids"] for example in corpus]
    expected = [naive(model.network, ids[0], {(0, 11), (1, 12)}, 6), naive(model.network, ids[1], {(2, 8)}, 6)]
    np.testing.assert_allclose(result["precision"], np.mean(expected, axis=0), atol=1e-6)
    assert '"sequences without a contact": 2' in result.attrs["skipped"]


@pytest.mark.parametrize("kind", ["esm", "prot_bert"])
def test_residues_are_the_tokens_of_protein_models(folder: Path, kind: str) -> None:
    model = esm(folder) if kind == "esm" else prot_bert()
    result = headscope.contacts(model, str(folder / "x.fasta"), QUICK, contacts=folder / "x.tsv")
    number, ends = model.tokenizer.get_vocab(), ("<cls>", "<eos>") if kind == "esm" else ("[CLS]", "[SEP]")
    rows = [row.replace(" ", "") for row in sequences(4, 14)]
    ids = [torch.tensor([[number[piece] for piece in (ends[0], *row, ends[1])]]) for row in rows]
    expected = [naive(model.network, ids[0], {(0, 11), (1, 12)}, 6), naive(model.network, ids[1], {(2, 8)}, 6)]
    np.testing.assert_allclose(result["precision"], np.mean(expected, axis=0), atol=1e-6)
    assert int(result.attrs["n_tokens"]) == sum(len(row) + 2 for row in rows[:2]) and "unknown" not in str(result.attrs)


def test_matrices_say_the_same_as_pairs_and_are_read_once(folder: Path) -> None:
    (folder / "maps").mkdir()
    lengths = [example.n_words for example in headscope.read(folder / "x.fasta")]
    for number, pairs in enumerate(([(0, 11), (12, 1)], [(2, 8), (2, 3)])):
        matrix = np.zeros((lengths[number], lengths[number]), bool)
        matrix[tuple(np.transpose(pairs))] = True
        np.save(folder / "maps" / f"s{number}.npy", matrix)
    found = [
        headscope.contacts(letter_model(), headscope.read(folder / "x.fasta"), QUICK, contacts=folder / name)
        for name in ("x.tsv", "maps")
    ]
    assert found[0]["precision"].equals(found[1]["precision"])
    corpus = headscope.read(folder / "x.fasta")
    known = read_contacts(folder / "maps", corpus)
    (folder / "maps").rename(folder / "moved")
    assert [known.of(example).tolist() for example in corpus] == [[[0, 11], [1, 12]], [[2, 3], [2, 8]], [], []]


def test_the_correction_takes_out_what_each_residue_says_alone() -> None:
    rows = torch.rand(9, dtype=torch.float64)
    touch = torch.zeros(9, 9, dtype=torch.float64)
    touch[2, 7] = touch[7, 2] = 0.5
    assert corrected(rows[:, None] * rows).abs().max() < 1e-12
    assert int(corrected(rows[:, None] * rows + touch).argmax()) in (2 * 9 + 7, 7 * 9 + 2)


def test_equal_scores_share_their_places() -> None:
    contact = np.array([True, False, False, False, True])
    assert precision(np.zeros((5, 1)), contact, 5).tolist() == [[0.4, 0.4, 0.4]]
    assert precision(np.array([[2.0], [3.0], [1.0], [1.0], [1.0]]), contact, 3)[0, 2] == pytest.approx((1 + 1 / 3) / 3)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.txt", PAIRS, "end in '.txt'; name a .tsv or .csv of pairs"),
        ("y.tsv", "s0\t1\t3\ns0\t0\t3\n", "line 2: 's0\t0\t3' is not the name of a sequence and the numbers of two"),
        ("y.csv", "s0\t1\t3\n", "have no pair: no line has the name"),
        ("y.tsv", "s0\t1\t99\n", "sequence 's0' has a residue 99, but 14 letters; count residues from 1"),
        ("y.tsv", "other\t1\t9\n", "has no contact 6 or more apart in .*; name pairs with --contacts, by the names"),
    ],
)
def test_what_is_wrong_with_contacts_is_said_with_its_remedy(
    folder: Path, name: str, content: str, problem: str
) -> None:
    (folder / name).write_text(content)
    with pytest.raises(HeadscopeError, match=problem):
        headscope.contacts(letter_model(), headscope.read(folder / "x.fasta"), QUICK, contacts=folder / name)


def test_sequences_of_one_name_are_refused(folder: Path) -> None:
    (folder / "y.fasta").write_text(">s0 a\nQVQ\n>s0 b\nQVL\n")
    with pytest.raises(HeadscopeError, match="2 sequences are named 's0'; give each a name of its own"):
        read_contacts(folder / "x.tsv", headscope.read(folder / "y.fasta"))


def test_a_matrix_of_distances_is_refused(folder: Path) -> None:
    (folder / "maps").mkdir()
    np.save(folder / "maps" / "s0.npy", np.full((14, 14), 3.5))
    with pytest.raises(HeadscopeError, match="of distances save distances < 8"):
        read_contacts(folder / "maps", headscope.read(folder / "x.fasta"))

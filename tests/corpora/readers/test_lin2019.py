"""Verbs and reflexives of Lin et al.: the word that asks, its noun phrase, the distractors, and the condition."""

from pathlib import Path

import pytest

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from support.written import question

KIND = Options(kind="lin2019")
VERB = "6\tour lion by your worms can smile\t5\t0 1\t3 4 "
ALONE = "0\tyour wolf would cry\t2\t0 1\t"
REFLEXIVE = "5\tmy queen who can kick her girl would remember your lady by herself\t12\t0 1\t5 6 9 10 "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agr.tsv").write_text(f"{ALONE}\n{VERB}\n", encoding="utf-8")
    (tmp_path / "refl.tsv").write_text(f"{REFLEXIVE}\n", encoding="utf-8")
    return tmp_path


def test_candidates_are_the_noun_phrases_and_the_right_one_is_first(folder: Path) -> None:
    verb, reflexive = read(str(folder), KIND)
    (sentence,) = verb.first
    asked = question(verb)
    assert sentence.forms[asked.pronoun[0]] == "can"
    assert [" ".join(sentence.forms[slice(*span)]) for span in asked.candidates] == ["our lion", "your worms"]
    assert (asked.answer, asked.condition) == (0, "phrase between, other number")
    (sentence,), asked = reflexive.first, question(reflexive)
    assert sentence.forms[asked.pronoun[0]] == "herself"
    assert [sentence.forms[end - 1] for _, end in asked.candidates] == ["queen", "girl", "lady"]
    assert asked.condition == "clause and object, both the same gender"


def test_sentences_without_a_distractor_are_counted(folder: Path) -> None:
    assert read(str(folder), KIND).skipped == {"sentences without a distractor": 1}


def test_a_task_is_one_of_the_files(folder: Path) -> None:
    assert read(str(folder), Options(kind="lin2019", task="refl")).n_examples == 1
    assert read(str(folder / "agr.tsv"), KIND).n_examples == 1
    with pytest.raises(HeadscopeError, match="no task 'nth' in it; there are: agr, refl"):
        read(str(folder), Options(kind="lin2019", task="nth"))
    with pytest.raises(HeadscopeError, match=r"no file agr\.tsv or refl\.tsv in it"):
        read(str(folder.parent / "nothing"), KIND)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("6\tour lion can smile", "line 1: 2 columns, expected 5"),
        ("6\tour lion can smile\t9\t0 1\t2", "line 1: the sentence has no word 9; it has 4, numbered from 0"),
        ("6\tour lion can smile\tx\t0 1\t2", "line 1: 'x' is not a whole number"),
        ("6\tour lion can smile\t2 3\t0 1\t2", None),
        ("6\tour lion can smile\t2\t0 3\t2", "line 1: one word asks"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(tmp_path: Path, line: str, said: str | None) -> None:
    path = tmp_path / "agr.tsv"
    path.write_text(f"{line}\n", encoding="utf-8")
    if said is None:
        assert read(str(path), KIND).n_examples == 1
        return
    with pytest.raises(HeadscopeError, match=said):
        read(str(path), KIND)

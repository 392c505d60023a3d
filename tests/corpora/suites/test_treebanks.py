"""Verbs of a treebank beside their forms of the other number: which verbs, which forms, how many attractors."""

import csv
from collections.abc import Iterable
from pathlib import Path

import pytest

from headscope.corpora.suites import Suite, read_suites
from headscope.errors import HeadscopeError

SING, PLUR = "Number=Sing", "Number=Plur"
FINITE = "Person=3|VerbForm=Fin"
Word = tuple[str, str, str, str, int, str]


def read(tmp_path: Path, *sentences: Iterable[Word]) -> Suite:
    lines = []
    for number, words in enumerate(sentences, 1):
        lines += [f"# sent_id = s{number}"]
        for index, (form, lemma, upos, features, head, relation) in enumerate(words, 1):
            form, misc = form.removesuffix("_"), "SpaceAfter=No" if form.endswith("_") else "_"
            lines.append(f"{index}\t{form}\t{lemma}\t{upos}\t_\t{features}\t{head}\t{relation}\t_\t{misc}")
        lines.append("")
    (tmp_path / "bank.conllu").write_text("\n".join(lines) + "\n")
    (suite,) = read_suites([tmp_path / "bank.conllu"])
    return suite


def noun(form: str, number: str, head: int, relation: str = "nsubj") -> Word:
    return (form, form.rstrip("s"), "NOUN", number, head, relation)


def verb(form: str, number: str, head: int = 0, relation: str = "root", lemma: str = "sleep") -> Word:
    return (form, lemma, "VERB" if relation in ("root", "conj") else "AUX", f"{number}|{FINITE}", head, relation)


ALONE = [noun("cat", SING, 2), verb("sleeps", SING)]
SEVERAL = [noun("cats", PLUR, 2), verb("sleep", PLUR)]


def test_a_verb_stands_beside_its_form_of_the_other_number(tmp_path: Path) -> None:
    near = [noun("cats", PLUR, 4), noun("dog", SING, 1, "nmod"), noun("mice", PLUR, 1, "nmod"), verb("sleep", PLUR)]
    suite = read(tmp_path, ALONE, near)
    found = [(item.id, item.good.text, item.bad[0].scored, item.condition) for item in suite.items]
    assert found == [
        ("s1-2", "cat sleeps", "sleep", "0 attractors"),
        ("s2-4", "cats dog mice sleep", "sleeps", "1 attractor"),
    ]
    assert (suite.name, {item.phenomenon for item in suite.items}) == ("bank", {"agreement in text"})


def test_the_finite_word_of_a_clause_agrees_with_the_subject(tmp_path: Path) -> None:
    cold = ("cold", "cold", "ADJ", "_", 0, "root")
    suite = read(
        tmp_path,
        [noun("cat", SING, 3), verb("is", SING, 3, "cop", "be"), cold],
        [noun("cats", PLUR, 3), verb("are", PLUR, 3, "cop", "be"), cold],
    )
    assert [(item.good.scored, item.bad[0].scored) for item in suite.items] == [("is", "are"), ("are", "is")]


@pytest.mark.parametrize(
    "left",
    [
        [verb("sleeps", SING), noun("cat", SING, 1)],  # the subject follows
        [noun("cat", SING, 3), noun("dog", SING, 1, "conj"), verb("sleep", PLUR)],  # coordinated
        [noun("cat", SING, 2), verb("sleeps_", SING), ("n't", "not", "PART", "_", 2, "advmod")],  # joined to a sign
        [noun("police", SING, 2), verb("sleep", PLUR)],  # annotated as of different numbers
        [noun("that", SING, 3), noun("cat", SING, 3), verb("sleeps", SING)],  # two subjects
    ],
)
def test_verbs_that_do_not_show_agreement_are_left_out(tmp_path: Path, left: list[Word]) -> None:
    assert [item.id for item in read(tmp_path, ALONE, SEVERAL, left).items] == ["s1-2", "s2-2"]


def test_verbs_without_another_form_are_counted_and_no_verb_is_an_error(tmp_path: Path) -> None:
    suite = read(tmp_path, ALONE, SEVERAL, [noun("cat", SING, 2), verb("runs", SING, lemma="run")])
    assert suite.skipped == {"verbs of which the treebank has no form of the other number": 1}
    with pytest.raises(HeadscopeError, match="no verb after a subject shows its number"):
        read(tmp_path, ALONE)


def test_verbs_of_a_document_are_resampled_together_else_those_of_a_sentence(tmp_path: Path) -> None:
    assert [item.document for item in read(tmp_path, ALONE, SEVERAL).items] == ["s1", "s2"]
    text = (tmp_path / "bank.conllu").read_text()
    (tmp_path / "bank.conllu").write_text(f"# newdoc id = letter\n{text}")
    (suite,) = read_suites([tmp_path / "bank.conllu"])
    assert [item.document for item in suite.items] == ["letter", "letter"]


HEADER: list[str] = (
    "sentence orig_sentence pos_sentence subj verb subj_pos has_rel has_nsubj verb_pos subj_index verb_index "
    "n_intervening last_intervening n_diff_intervening distance max_depth all_nouns nouns_up_to_verb"
).split()


def wikipedia(tmp_path: Path, *rows: tuple[str, str, str, int, int]) -> Suite:
    """The suite of a file as the code of Linzen et al. (2016) writes it: csv.writer with tabs and its line ends."""
    path = tmp_path / "agr_50_mostcommon_10K.tsv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, delimiter="\t", restval="_")
        writer.writeheader()
        for text, verb, tag, index, attractors in rows:
            given = {"orig_sentence": text, "verb": verb, "verb_pos": tag, "verb_index": index}
            writer.writerow(given | {"n_diff_intervening": attractors})
    (suite,) = read_suites([path])
    return suite


def test_wikipedia_has_the_other_form_in_the_file_itself(tmp_path: Path) -> None:
    suite = wikipedia(
        tmp_path,
        ("the keys to the cabinet are here", "are", "VBP", 6, 1),
        ('the " cat " is here', "is", "VBZ", 5, 0),
        ("it carries them", "carries", "VBZ", 2, 0),
        ("they carry it", "carry", "VBP", 2, 0),
        ("it goes", "goes", "VBZ", 2, 0),
        ("they go", "go", "VBP", 2, 0),
        ("it runs", "runs", "VBZ", 2, 0),
    )
    assert [(item.good.text, item.bad[0].scored, item.condition) for item in suite.items] == [
        ("the keys to the cabinet are here", "is", "1 attractor"),
        ('the " cat " is here', "are", "0 attractors"),
        ("it carries them", "carry", "0 attractors"),
        ("they carry it", "carries", "0 attractors"),
        ("it goes", "go", "0 attractors"),
        ("they go", "goes", "0 attractors"),
    ]
    assert suite.name == "linzen" and {item.phenomenon for item in suite.items} == {"agreement in text"}
    assert suite.skipped == {"verbs of which the file has no form of the other number": 1}


@pytest.mark.parametrize("index", [1, 0, 9])
def test_a_row_whose_index_is_not_that_of_its_verb_is_refused(tmp_path: Path, index: int) -> None:
    with pytest.raises(HeadscopeError, match=f"line 2: word {index} of the sentence is not its verb 'are'"):
        wikipedia(tmp_path, ("they are here", "are", "VBP", index, 0))

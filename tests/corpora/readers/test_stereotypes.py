"""WinoBias and Winogender: pairs of sentences that differ in the gender of their pronoun."""

from collections import Counter
from pathlib import Path

import pytest

from headscope.corpora import Corpus, Options, read
from headscope.errors import HeadscopeError
from support.written import question

PRO = """1 [The developer] argued with the designer because [he] slept.

2 The designer met [the chief] and asked [him].
"""
ANTI = PRO.replace("[he]", "[she]").replace("[him]", "[her]")


def winobias(folder: Path, pro: str = PRO, anti: str = ANTI, **options) -> Corpus:
    for kind, text in (("pro", pro), ("anti", anti)):
        (folder / f"{kind}_stereotyped_type1.txt.dev").write_text(text)
    (folder / "male_occupations.txt").write_text("developer\nchief\n")
    (folder / "female_occupations.txt").write_text("designer")
    return read(folder, Options(kind="winobias", task="type1", **options))


def test_the_brackets_are_the_right_candidate_and_the_pronoun(tmp_path: Path) -> None:
    found = list(winobias(tmp_path))
    assert [example.id for example in found] == [
        f"{kind}_stereotyped_type1.txt.dev:{line}" for kind in ("pro", "anti") for line in (1, 3)
    ]
    assert found[0].first[0].text == "The developer argued with the designer because he slept."
    asked, second = question(found[0]), question(found[1])
    assert (asked.pronoun, asked.candidates, asked.answer) == ((7, 8), ((0, 2), (5, 6)), 0)
    assert second.candidates == ((3, 5), (1, 2)) and found[1].first[0].forms[second.pronoun[0]] == "him"


def test_lines_of_the_same_number_are_partners(tmp_path: Path) -> None:
    asked = [question(example) for example in winobias(tmp_path)]
    assert [question.stereotype for question in asked] == ["pro", "pro", "anti", "anti"]
    assert [question.pair for question in asked] == ["stereotyped_type1.txt.dev:1", "stereotyped_type1.txt.dev:2"] * 2


def test_a_file_may_be_named_alone_and_other_pronouns_in_brackets_are_passed_over(tmp_path: Path) -> None:
    winobias(tmp_path, pro="1 The chief met [the designer] as [she] took [her] hat.\n")
    (found,) = read(tmp_path / "pro_stereotyped_type1.txt.dev", Options(kind="winobias"))
    assert found.first[0].forms[question(found).pronoun[0]] == "she" and question(found).candidates[1] == (1, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[The chief] met the designer as [he] ran.", "line 1: the line does not begin with the number"),
        ("1 [The chief met the designer as [he] ran.", "line 1: a square bracket has no partner"),
        ("1 [The chief] met the designer as he ran.", "line 1: no pronoun, or no occupation, stands in square"),
        ("1 The chief met the designer as [he] ran.", "line 1: no pronoun, or no occupation, stands in square"),
        ("1 [The chief] met the singer as [he] ran.", "line 1: no second occupation of the lists"),
    ],
)
def test_a_bad_sentence_is_refused_with_its_line_or_counted(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        winobias(tmp_path, pro=text)
    assert winobias(tmp_path, pro=text, skip_bad=True).skipped == {"bad": 1}


def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"no file 'pro_stereotyped_type1.txt.dev' in it; name the folder"):
        read(tmp_path, Options(kind="winobias"))
    with pytest.raises(HeadscopeError, match="no type 'type3' in WinoBias; there are: type1, type2"):
        read(tmp_path, Options(kind="winobias", task="type3"))
    winobias(tmp_path)
    (tmp_path / "male_occupations.txt").unlink()
    with pytest.raises(HeadscopeError, match=r"no file 'male_occupations.txt'"):
        read(tmp_path, Options(kind="winobias", task="type1"))


SENTENCES = [
    ("baker.guest.0.male.txt", "The baker told the guest that he slept."),
    ("baker.guest.0.female.txt", "The baker told the guest that she slept."),
    ("baker.guest.0.neutral.txt", "The baker told the guest that they slept."),
    ("nurse.someone.1.female.txt", "Someone called the nurse and took her hat."),
]
STATISTICS = "occupation\tbergsma_pct_female\tbls_pct_female\nbaker\t60\t49.5\nnurse\t10\t90\n"


def winogender(folder: Path, *sentences: tuple[str, str], statistics: str = STATISTICS, **options) -> Corpus:
    lines = ["sentid\tsentence", *map("\t".join, sentences or SENTENCES)]
    (folder / "all_sentences.tsv").write_text("\n".join(lines))
    (folder / "occupations-stats.tsv").write_text(statistics)
    return read(folder, Options(kind="winogender", **options))


def test_the_occupation_is_the_first_candidate(tmp_path: Path) -> None:
    asked = [question(example) for example in winogender(tmp_path)]
    assert [question.candidates for question in asked] == [((1, 2), (4, 5))] * 3 + [((3, 4), (0, 1))]
    assert [question.pronoun for question in asked] == [(6, 7)] * 4
    assert [question.answer for question in asked] == [0, 0, 0, 1]
    assert [question.pair for question in asked] == ["baker.guest.0"] * 3 + ["nurse.someone.1"]


def test_the_stereotype_is_the_gender_of_most_people_of_the_occupation(tmp_path: Path) -> None:
    assert [question(example).stereotype for example in winogender(tmp_path)] == ["pro", "anti", "", "pro"]


@pytest.mark.parametrize(
    ("id", "text", "said"),
    [
        ("baker.guest.male.txt", "The baker saw the guest as he ran.", "line 2: sentid 'baker.guest.male.txt' is not"),
        ("baker.guest.0.male.txt", "The baker saw the guest as it ran.", "line 2: 0 words of the sentence are he or"),
        ("baker.guest.0.male.txt", "The baker saw the cook as he ran.", "line 2: 0 words of the sentence are guest"),
        ("baker.guest.0.male.txt", "He saw the baker and the guest as he ran.", "line 2: 2 words of the sentence"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_or_counted(tmp_path: Path, id: str, text: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        winogender(tmp_path, (id, text))
    assert winogender(tmp_path, (id, text), SENTENCES[0], skip_bad=True).skipped == {"bad": 1}


def test_statistics_that_say_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="line 2: no occupation with bls_pct_female"):
        winogender(tmp_path, statistics="occupation\tshare\nbaker\t10\n")
    with pytest.raises(HeadscopeError, match="line 2: no occupation with bls_pct_female"):
        winogender(tmp_path, statistics="occupation\tbls_pct_female\nbaker\tmany\n")
    (tmp_path / "occupations-stats.tsv").unlink()
    with pytest.raises(HeadscopeError, match=r"no file 'occupations-stats.tsv'"):
        read(tmp_path, Options(kind="winogender"))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_real_files_of_winobias_are_pairs(real_data: Path, split: str) -> None:
    found = read(real_data / "coref" / "winobias", Options(kind="winobias", split=split))
    assert (found.n_examples, found.skipped) == (1584, {})
    assert set(Counter(question(example).pair for example in found).values()) == {2}


def test_the_real_files_of_winogender_are_triples(real_data: Path) -> None:
    found = read(real_data / "coref" / "winogender", Options(kind="winogender"))
    assert (found.n_examples, found.skipped) == (720, {})
    assert Counter(question(example).stereotype for example in found) == {"pro": 240, "anti": 240, "": 240}

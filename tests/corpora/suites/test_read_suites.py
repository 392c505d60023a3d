"""Suites are read in the order of their files, and a wrong line is refused by its number."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora.suites import Candidate, ClozeItem, read_suites
from headscope.corpora.suites.item import differing
from headscope.errors import HeadscopeError

PAIR = {"good": "The cat sleeps.", "bad": "The cat sleep."}
GAP = {"sentence": "The cat [MASK].", "answer": "sleeps", "alternatives": ["sleep", "slept"], "id": "a"}
BLIMP = {
    "UID": "island",
    "pair_id": "7",
    "linguistics_term": "islands",
    "sentence_good": "Go.",
    "sentence_bad": "Gone.",
}
TEMPLATES = "construction\tcondition\tsource_index\tgood\tbad\tbad2\n"
AGREEMENT = "pattern\tconstr_id\tsent_id\tform\tclass\ttype\tn_attr\tlen_prefix\tsent\n"


def written(folder: Path, name: str, *lines: object) -> str:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


def items(source: str, **options: object) -> tuple[ClozeItem, ...]:
    (suite,) = read_suites([source], **options)  # type: ignore[arg-type]
    return suite.items


def test_own_pairs_and_gaps(tmp_path: Path) -> None:
    one, other = items(written(tmp_path, "mine.jsonl.gz", PAIR | {"phenomenon": "number", "lemma": "sleep"}, "", GAP))
    assert (one.id, one.phenomenon, one.lemma) == ("mine.jsonl:1", "number", "sleep")
    assert one.good == Candidate("The cat sleeps.", 0, 15)
    assert (other.id, other.phenomenon, other.lemma) == ("a", "mine", "sleep sleeps slept")
    assert other.good == Candidate("The cat sleeps.", 8, 14, True)
    assert [candidate.text for candidate in other.bad] == ["The cat sleep.", "The cat slept."]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ([1], "not an object"),
        ({}, "neither 'good' and 'bad' nor 'sentence' and 'answer'"),
        ({"good": "A."}, "no 'bad'"),
        ({"bad": "A."}, "no 'good'"),
        (PAIR | {"bad": ""}, "'bad' is '', expected"),
        (PAIR | {"bad": PAIR["good"]}, "stands on both sides"),
        (PAIR | {"odd": 1}, "unknown field 'odd'"),
        (GAP | {"sentence": "No gap."}, "'sentence' has 0 gaps, expected one [MASK]"),
        (GAP | {"sentence": "[MASK] [MASK]"}, "'sentence' has 2 gaps"),
        ({"sentence": "The [MASK]."}, "no 'answer'"),
        (GAP | {"alternatives": ["sleeps"]}, "stands on both sides"),
        (GAP | {"alternatives": [1]}, "'alternatives' is '[1]', expected"),
    ],
)
def test_wrong_lines_are_refused_by_number_or_counted(line: object, message: str, tmp_path: Path) -> None:
    source = written(tmp_path, "mine.jsonl", PAIR, line)
    with pytest.raises(HeadscopeError) as refused:
        read_suites([source])
    assert "line 2: " in str(refused.value) and message in str(refused.value)
    (suite,) = read_suites([source], skip_bad=True)
    assert len(suite.items) == 1 and suite.skipped == {"bad": 1}


def test_two_items_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="two items have the id 'a'"):
        read_suites([written(tmp_path, "mine.jsonl", GAP, GAP)])


def test_blimp_by_name_and_by_file(tmp_path: Path) -> None:
    (tmp_path / "syntax").mkdir()
    source = written(tmp_path / "syntax", "blimp.jsonl.gz", BLIMP)
    (item,) = items("blimp", data=tmp_path)
    assert items(source) == (item,)
    assert (item.id, item.phenomenon, item.condition, item.bad[0].text) == ("island-7", "islands", "island", "Gone.")


def test_a_sample_has_pairs_of_all_paradigms_from_all_parts_of_the_file(tmp_path: Path) -> None:
    pairs = [BLIMP | {"UID": paradigm, "pair_id": str(number)} for paradigm in ("wh", "adjunct") for number in range(9)]
    source = written(tmp_path, "blimp.jsonl", *pairs)
    expected = [f"{paradigm}-{number}" for paradigm in ("wh", "adjunct") for number in (0, 3, 6)]
    assert [item.id for item in items(source, per_condition=3)] == expected
    few = items(source, per_condition=3, limit=4)
    assert {item.id for item in few} < {*expected} and [item.condition for item in few] == [
        "wh",
        "wh",
        "adjunct",
        "adjunct",
    ]
    (suite,) = read_suites([source], limit=4)
    assert suite.drawn == "4 of 18, drawn evenly over conditions, seed 0" and suite.items == items(source, limit=4)
    assert [item.condition for item in suite.items] == ["wh", "wh", "adjunct", "adjunct"]
    assert len(items(source, per_condition=10)) == 18


def test_marvin_and_linzen(tmp_path: Path) -> None:
    rows = ("simple\tsing\t3\tit is\tit are\t\n", "npi\tpast\t4\tno a ever\tthe a ever\ta no ever\n")
    source = written(tmp_path, "marvin_linzen.tsv", TEMPLATES + "".join(rows).rstrip())
    one, other = items(source)
    assert (one.id, one.phenomenon, one.condition, one.lemma) == ("simple/sing-3", "simple", "sing", "are is")
    assert len(other.bad) == 2


def test_agreement(tmp_path: Path) -> None:
    right, wrong = (f'p\t1\t7\t{form}\t{kind}\tgenerated\t1\t2\t"the ""cats"" go there <eos>"\n' for form, kind in
                    (("sleep", "correct"), ("sleeps", "wrong")))  # fmt: skip
    (item,) = items(written(tmp_path, "gulordava_generated.tab", (AGREEMENT + right + wrong).rstrip()))
    assert item.good == Candidate('the "cats" sleep there', 11, 16, True)
    assert (item.id, item.condition, item.phenomenon) == ("p/1-7-generated", "1 attractor", "agreement in nonsense")
    returned = (AGREEMENT + right + wrong).replace("\np\t", "\np\r\t").rstrip()
    with pytest.raises(HeadscopeError, match="line 2: carriage returns are not line ends"):
        items(written(tmp_path, "gulordava_generated.tab", returned))
    long = (AGREEMENT + right.replace("go", "go" * 70_000) + wrong).rstrip()
    with pytest.raises(HeadscopeError, match=r"line 2: not a table \(field larger than field limit"):
        items(written(tmp_path, "gulordava_generated.tab", long))
    with pytest.raises(HeadscopeError, match=r"line 2: .*are not the correct and the wrong form"):
        items(written(tmp_path, "gulordava_generated.tab", (AGREEMENT + wrong + right).rstrip()))
    with pytest.raises(HeadscopeError, match="line 2: the last line has no line after it"):
        items(written(tmp_path, "gulordava_generated.tab", (AGREEMENT + right).rstrip()))


def test_numeracy_is_balanced_and_the_same_each_time() -> None:
    all_items = items("numeracy")
    compared = [item for item in all_items if item.phenomenon == "comparing numbers"]
    assert sum(item.good.scored == "larger" for item in compared) == len(compared) / 2
    assert len({item.id for item in all_items}) == len(all_items)
    for item in all_items:
        if item.phenomenon == "adding numbers" and item.condition != "words":
            one, _, other, *_ = item.good.text.split()
            assert int(one) + int(other) == int(item.good.scored)
    assert len(items("numeracy", limit=5)) == 5
    assert len(items("numeracy", per_condition=3)) == 3 * len({(item.phenomenon, item.condition) for item in all_items})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blimb", "did you mean 'blimp'"),
        ("blimp", "its files are missing; name their folder with --data"),
        ("own", "is no file and no name of a suite"),
    ],
)
def test_unknown_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        read_suites([name])


def test_missing_files_and_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"no file 'blimp.jsonl' or 'blimp.jsonl.gz'"):
        read_suites(["blimp"], tmp_path)
    with pytest.raises(HeadscopeError, match="line 1: no column 'condition'"):
        read_suites([written(tmp_path, "marvin_linzen.tsv", "construction\tgood\tbad")])


WORDS = st.lists(st.sampled_from(["the", "cat", "sleeps", "sleep"]), min_size=1, max_size=5).map(" ".join)


@given(WORDS, WORDS)
def test_differing_words_are_the_same_from_both_sides(good: str, bad: str) -> None:
    assert differing(good, bad)
    if set(good.split()) != set(bad.split()):
        assert differing(good, bad) == differing(bad, good)


FACTS = [
    {"predicate_id": "P19", "sub_label": "Ann", "obj_label": "Paris"},
    {"predicate_id": "P19", "sub_label": "Ann", "obj_label": "France"},
    {"predicate_id": "P0", "sub_label": "Ann", "obj_label": "France"},
]


def test_facts_in_one_wording_and_in_several(tmp_path: Path) -> None:
    source = written(tmp_path, "trex_pairs.jsonl", *FACTS)
    with pytest.raises(HeadscopeError, match=r"no file 'relations.jsonl' beside it"):
        read_suites([source])
    written(tmp_path, "relations.jsonl", {"relation": "P19", "template": "[X] was born in [Y] ."})
    (suite,) = read_suites([source])
    first, second = suite.items
    assert suite.skipped == {"facts without a template": 1}
    assert (first.id, first.good.context, first.bad) == ("P19-1", "Ann was born in [MASK] .", ())
    assert first.other_answers == ("France",) and second.good.scored == "France"
    several = [
        {"predicate_id": "P19", "pattern": pattern} for pattern in ("[X] is from [Y].", "[Y] is the home of [X].")
    ]
    (pararel,) = read_suites([written(tmp_path, "pararel_patterns.jsonl", *several)], per_condition=1)
    assert [item.good.text for item in pararel.items] == ["Ann is from Paris.", "Paris is the home of Ann."]
    assert {item.fact for item in pararel.items} == {"P19-1"}
    written(tmp_path, "relations.jsonl", {"relation": "P19", "template": "no gap"})
    with pytest.raises(HeadscopeError, match="line 1: template 'no gap' has not one"):
        read_suites([source])


def test_google_re_and_squad(tmp_path: Path) -> None:
    born = {"relation": "date_of_birth", "sub_label": "Ann", "obj_label": "1941", "masked_sentences": ["a [MASK]"]}
    (item,) = items(written(tmp_path, "google_re.jsonl", born))
    assert (item.id, item.good.text, item.good.scored, item.bad) == ("date_of_birth-1", "Ann (born 1941).", "1941", ())
    asked = {"id": "7", "sub_label": "Squad", "obj_label": "gold", "masked_sentences": ["The [MASK] color."]}
    twice = asked | {"id": "8", "masked_sentences": ["The [MASK] and [MASK]."]}
    (suite,) = read_suites([source := written(tmp_path, "squad.jsonl", asked, twice)])
    assert [item.good.text for item in suite.items] == ["The gold color."]
    assert suite.skipped == {"sentences with several gaps": 1}
    written(tmp_path, "squad.jsonl", asked | {"masked_sentences": ["No gap."]})
    with pytest.raises(HeadscopeError, match=r"line 1: 'masked_sentences' has no \[MASK\]"):
        read_suites([source])


def test_verbs_of_templates_in_the_gap(tmp_path: Path) -> None:
    verb = "simple_agrmt\tsing\t1\tthe author laughs\tthe author laugh\t\n"
    polarity = "simple_npi\tpast\t2\tno author ever ran\tthe author ever ran\tmost authors ever ran\n"
    more = "vp_coord\tsing\t3\tthe author laughs and sings\tthe author laugh and sing\t"
    source = written(tmp_path, "marvin_linzen.tsv", TEMPLATES + verb + polarity + more)
    assert len(items(source)) == 3
    (suite,) = read_suites(["marvin_linzen_verbs"], tmp_path)
    (item,) = suite.items
    assert item.good == Candidate("the author laughs", 11, 17, True) and item.bad[0].scored == "laugh"
    assert item.phenomenon == "simple_agrmt, word in the gap" and sum(suite.skipped.values()) == 2


NATURAL = ("0\tIt is very\tIt isn't very\tsafe\tdangerous\tY", "8\tIt is so\tIt isn't so\tsafe\tdangerous\tN")


def test_three_diagnostics(tmp_path: Path) -> None:
    prediction = "item\tcontext_s1\tcontext_s2\texpected\twithin_category\tbetween_category\tconstraint"
    written(tmp_path, "CPRAG-102.tsv", prediction, "0\tHe won.\tShe played\tchess\tgo\tball\tH")
    roles = "item\tcontext\texpected\texp_cloze\ttarget\ttgt_cloze\ttgt_cloze(strict)"
    lines = (
        "1-b\tthe cook whom the guest had \tx\t0\tserved\t0.1\t0",
        "1-a\tthe guest whom the cook had \tx\t0\tserved\t0.7\t0",
    )
    written(tmp_path, "ROLE-88.tsv", roles, *lines)
    negation = "item\tcontext_aff\tcontext_neg\ttarget_aff\ttarget_neg"
    written(tmp_path, "NEG-136-SIMP.tsv", negation, "0\tA trout is (a|an)\tA trout is not (a|an)\tanimal\ttool")
    written(tmp_path, "NEG-136-NAT.tsv", f"{negation}\tlicensing", *NATURAL)
    prediction, role, simple, negated, natural, _, less, _ = items("ettinger", data=tmp_path)
    assert prediction.good.text == "He won. She played chess." and len(prediction.bad) == 2
    assert role.good.text == "the guest whom the cook had served." and "the cook whom" in role.bad[0].text
    assert role.human == pytest.approx(0.6) and np.isnan(simple.human)
    assert (simple.good.text, simple.bad[0].text) == ("A trout is an animal.", "A trout is a tool.")
    assert negated.good.text == "A trout is not a tool." and negated.phenomenon == "negation: negated"
    assert (simple.condition, natural.condition, less.condition) == ("simple", "natural", "less natural")
    with pytest.raises(HeadscopeError, match="line 2: item '1' has no other line"):
        items(written(tmp_path, "ROLE-88.tsv", roles, lines[0]))

"""FrameNet as the release ships it (XML, ends of spans included) and as lines of JSON (ends excluded)."""

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.corpora.readers import framenet
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, LabelledSpan, Link, Sentence
from support.written import corpus

FRAMENET = Options(kind="framenet")
TEXT = "He gave the old book up . "
EXPECTED = Example(
    "give up.v:11",
    (
        Sentence(
            "He gave the old book up .",
            ((0, 2), (3, 7), (8, 11), (12, 15), (16, 20), (21, 23), (24, 25)),
            links=(
                Link("Agent", (0,), (1, 5), core=True),
                Link("Theme", (2, 3, 4), (1, 5), core=True),
                Link("Manner", (6,), (1, 5), core=False),
            ),
            labelled=(LabelledSpan(((1, 2),), ("Giving_up",), lemma="give up.v"),),
        ),
    ),
    label="Giving_up",
)
FES = (
    """<FE name="Agent" type="Core"/><FE name="Theme" type="Core-Unexpressed"/><FE name="Manner" type="Peripheral"/>"""
)
LABELS = """
        <layer rank="1" name="FE">
          <label start="0" end="1" name="Agent"/><label start="8" end="19" name="Theme"/>
          <label start="24" end="24" name="Manner"/><label itype="INI" name="Theme"/>
        </layer>
        <layer rank="1" name="GF"><label start="0" end="1" name="Ext"/></layer>
        <layer rank="1" name="Target">
          <label start="3" end="6" name="Target"/><label start="21" end="22" name="Target"/>
        </layer>"""
UNANNOTATED = """<annotationSet status="UNANN" ID="10"><layer rank="1" name="BNC">
        <label start="0" end="1" name="PNP"/></layer></annotationSet>"""


def unit(sentences: str, elements: str = FES, root: str = "lexUnit") -> str:
    """A file of a lexical unit, one sentence beginning on line 6."""
    return f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<{root} name="give up.v" frame="Giving_up" xmlns="http://framenet.icsi.berkeley.edu">
  <header><frame>{elements}</frame></header>
  <valences><FERealization><FE name="Agent"/></FERealization></valences>
  <subCorpus name="manual">
{sentences}
  </subCorpus>
</{root}>
"""


def sentence(labels: str = LABELS, text: str = TEXT, id: str = 'ID="11"') -> str:
    return f"""<sentence ID="1"><text>{text}</text>{UNANNOTATED}
      <annotationSet status="MANUAL" {id}>{labels}</annotationSet></sentence>"""


def record(**changes: object) -> dict:
    made: dict = {
        "sentence": TEXT,
        "n_tokens": 7,
        "frame": "Giving_up",
        "lexical_unit": "give up.v",
        "target": [3, 7],
        "target_spans": [[3, 7], [21, 23]],
        "elements": [
            {"name": "Agent", "core": True, "core_type": "Core", "start": 0, "end": 2, "tok": [0, 1]},
            {"name": "Theme", "core": True, "start": 8, "end": 20},
            {"name": "Manner", "core": False, "start": 24, "end": 25, "layer": 2},
        ],
        "anno_id": 11,
    }
    return made | changes


def jsonl(*records: object) -> str:
    return "\n".join(map(json.dumps, records))


def test_xml_and_json_say_the_same() -> None:
    found = corpus("lu10.xml", unit(sentence()))
    assert list(found) == [EXPECTED]
    assert found.skipped == {"frame elements without words": 1}
    assert list(corpus("made.jsonl", jsonl(record()), FRAMENET)) == [EXPECTED]


def test_a_target_of_one_piece() -> None:
    (example,) = corpus("made.jsonl", jsonl(record(target_spans=None)), FRAMENET)
    assert [link.target for link in example.first[0].links] == [(1,)] * 3


def test_each_annotation_of_a_sentence_is_an_example_and_sentences_without_one_are_counted() -> None:
    twice = sentence().replace(
        "</sentence>", f'<annotationSet status="MANUAL" ID="12">{LABELS}</annotationSet></sentence>'
    )
    bare = f'<sentence ID="2"><text>It rained .</text>{UNANNOTATED}</sentence>'
    found = corpus("lu10.xml", unit(f"{twice}{bare}"))
    assert [example.id for example in found] == ["give up.v:11", "give up.v:12"]
    assert found.skipped == {"frame elements without words": 2, "sentences without annotation": 1}


def test_the_release_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "lu").mkdir()
    for number in (10, 9):
        (tmp_path / "lu" / f"lu{number}.xml").write_text(unit(sentence(id=f'ID="{number}"')))
    (tmp_path / "lu" / "lexUnit.xsl").write_text("<xsl/>")
    for folder in (tmp_path, tmp_path / "lu"):
        assert [example.id for example in read(folder, FRAMENET)] == ["give up.v:9", "give up.v:10"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(HeadscopeError, match="is a folder"):
        read(tmp_path / "empty", FRAMENET)


LATE = LABELS.replace('start="24" end="24"', 'start="24" end="40"')
BLANK = LABELS.replace('start="24" end="24"', 'start="23" end="23"')
UNKNOWN = LABELS.replace('name="Manner"', 'name="Mood"')
WORDS = LABELS.replace('start="0" end="1" name="Agent"', 'start="zero" end="1" name="Agent"')
BACKWARDS = LABELS.replace('start="8" end="19"', 'start="8" end="5"')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<lexUnit>\n<text>\n</lexUnit>", r"line 3: not XML \(mismatched tag"),
        ("", "not XML"),
        (unit(sentence(), root="frame"), "line 2: <frame> is no lexical unit; name files of the folder lu"),
        (unit(sentence()).replace(' frame="Giving_up"', ""), "line 2: <lexUnit> has no frame"),
        (unit(sentence(LATE)), r"line 8: element 'Manner' is characters \[24, 41\) of a sentence of 26"),
        (unit(sentence(BLANK)), "line 8: element 'Manner' is blank"),
        (unit(sentence(UNKNOWN)), "line 11: the frame has no element 'Mood'"),
        (unit(sentence(WORDS)), "line 10: start 'zero' is not a whole number"),
        (unit(sentence(BACKWARDS)), r"line 8: element 'Theme' is characters \[8, 6\)"),
        (unit(sentence(id="")), "line 8: <annotationSet> has no ID"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>\n<lexUnit>&b;</lexUnit>', "line 1: a document type is declared"),
    ],
)
def test_broken_xml_is_refused_with_its_line(content: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        corpus("lu10.xml", content)


def test_what_is_bad_is_counted_where_that_is_wanted() -> None:
    good = sentence(id='ID="12"')
    found = corpus("lu10.xml", unit(sentence(LATE) + good), Options(skip_bad=True))
    assert [example.id for example in found] == ["give up.v:12"] and found.skipped["bad"] == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r"not JSON \(Expecting property name"),
        ("[1]", "not an object {...}"),
        (json.dumps(record(target=None, target_spans=None)), "no 'target'"),
        (json.dumps(record(target_spans=[[3, "7"]])), r"target \[3, '7'\] is not \[start, end\]"),
        (json.dumps(record(target=[], target_spans=None)), r"target \[\] is not \[start, end\]"),
        (json.dumps(record(target_spans=[[7, 7]])), r"the target is characters \[7, 7\) of a sentence of 26"),
        (json.dumps(record(target_spans=[[7, 8]])), "the target is blank"),
        (json.dumps(record(sentence=7)), "'sentence' is 7, expected a text"),
        (json.dumps(record(elements=[7])), "'elements' has 7, expected an object"),
        (json.dumps(record(elements=[{"name": "Agent", "core": 1, "start": 0, "end": 2}])), "expected true or false"),
        (
            json.dumps(record(elements=[{"name": "Agent", "core": True, "start": -3, "end": 2}])),
            r"characters \[-3, 2\)",
        ),
        (json.dumps(record(elements=[{"name": "Agent", "core": True, "start": True, "end": 2}])), "a whole number"),
        (json.dumps(record(elements=[{"name": "Agent", "core": True, "start": 1}])), "no 'end'"),
        (json.dumps(record(elements=[{"name": "Agent", "start": 0, "end": 2}])), "no 'core'"),
    ],
)
def test_broken_json_is_refused_with_its_line(line: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=f"line 3: .*{said}"):
        corpus("made.jsonl", f"{jsonl(record())}\n\n{line}", FRAMENET)
    found = corpus("made.jsonl", f"{jsonl(record())}\n\n{line}", Options(kind="framenet", skip_bad=True))
    assert len(found) == 1 and found.skipped == {"empty": 1, "bad": 1}


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    words=st.lists(st.text("abé’-1", min_size=1, max_size=4), min_size=2, max_size=6),
    ends=st.lists(st.integers(0, 5), min_size=2, max_size=2),
    blanks=st.integers(1, 2),
)
def test_words_are_found_by_their_characters(words: list[str], ends: list[int], blanks: int) -> None:
    first, last = sorted(min(end, len(words) - 1) for end in ends)
    text = (" " * blanks).join(words)
    start = sum(len(word) + blanks for word in words[:first])
    end = sum(len(word) + blanks for word in words[: last + 1]) - blanks
    element = {"name": "E", "core": True, "start": start, "end": end}
    made = record(sentence=text, target_spans=[[0, len(words[0])]], elements=[element])
    (example,) = corpus("made.jsonl", jsonl(made), FRAMENET)
    assert example.first[0].forms == tuple(words)
    assert example.first[0].links == (Link("E", tuple(range(first, last + 1)), (0,), core=True),)


def test_the_real_examples_are_where_they_say_they_are(real_data: Path) -> None:
    path = str(real_data / "framenet" / "framenet15_lu_short.jsonl.gz")
    found = [item for item in islice(framenet.examples(path, FRAMENET), 200) if isinstance(item, Example)]
    first = found[0].first[0]
    assert first.forms == ("What", "caused", "you", "to", "change", "your", "mind", "?")
    assert [(link.relation, link.source, link.core) for link in first.links] == [
        ("Cause", (0,), True),
        ("Effect", (2,), True),
        ("Effect", (3, 4, 5, 6), True),
    ]
    assert len(found) == 200

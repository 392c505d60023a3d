"""Coreference in CoNLL-U."""

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Mention
from support.written import corpus

GUM = "GRP-etype-infstat-salience-centering-minspan-link-identity"


def content(*entities: str, fields: str | None = "eid-etype"):
    comment = [f"# global.Entity = {fields}"] if fields else []
    rows = [
        f"{n}\tword\t_\t_\t_\t_\t_\t_\t_\t{(value and f'Entity={value}') or '_'}" for n, value in enumerate(entities, 1)
    ]
    return "\n".join([*comment, *rows]) + "\n\n"


def mentions(text):
    return [example.first[0].mentions for example in corpus("x.conllu", text)]


@pytest.mark.parametrize(
    ("entities", "fields", "expected"),
    [
        (["(e1-person)"], "eid-etype", [("e1", 0, 1)]),
        (["(e1-person", "", "e1)"], "eid-etype", [("e1", 0, 3)]),
        (
            ["(e1-person-2-coref(e2-place)", "e1)(e3-x)"],
            "eid-etype-head-link",
            [("e1", 0, 2), ("e2", 0, 1), ("e3", 1, 2)],
        ),
        (["(1-person(1-person)", "1)"], "GRP-etype", [("1", 0, 2), ("1", 0, 1)]),
        (["(1-person", "(1-person", "1)", "1)"], "GRP-etype", [("1", 0, 4), ("1", 1, 3)]),
        (["(a-x(b-x", "a)(c-x", "b)", "c)"], "eid-etype", [("b", 0, 3), ("a", 0, 2), ("c", 1, 4)]),
        (["(3-org-giv:act-sssss-cf2-1,2-coref-Penn_State-U", "3)"], GUM, [("3", 0, 2)]),
        (["(person-7", "person-7)"], "etype-GRP", [("7", 0, 2)]),
        (["", ""], "eid-etype", []),
    ],
)
def test_mentions(entities, fields, expected):
    (found,) = mentions(content(*entities, fields=fields))
    assert found == tuple(Mention(*values) for values in expected)


def test_without_its_fields_a_corpus_has_no_coreference():
    assert mentions(content("(e1-person)", fields=None)) == [None]


def test_the_fields_hold_for_the_sentences_that_follow():
    assert mentions(content("") + content("(e1-person)", fields=None)) == [(), (Mention("e1", 0, 1),)]


def test_parts_of_a_discontinuous_mention_are_left_out_and_counted():
    found = corpus("x.conllu", content("(e1[1/2]-person)", "(e2-x)", "(e1[2/2]-person", "e1[2/2])"))
    assert next(iter(found)).first[0].mentions == (Mention("e2", 1, 2),)
    assert found.skipped == {"part of a discontinuous mention": 2}


def test_a_mention_over_two_sentences_is_left_out_and_counted():
    found = corpus("x.conllu", content("(e1-person", "(e2-x)") + content("e1)", fields=None))
    assert [example.first[0].mentions for example in found] == [(Mention("e2", 1, 2),), ()]
    assert found.skipped == {"unclosed mention": 1, "unopened mention": 1}


def test_mentions_of_empty_nodes():
    rows = [
        "# global.Entity = eid-etype",
        "1\tsaw\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1-event",
        "1.1\tshe\t_\t_\t_\t_\t_\t_\t_\tEntity=(e2-person)(e3-x",
        "2\thim\t_\t_\t_\t_\t_\t_\t_\tEntity=e1)e3)",
    ]
    found = corpus("x.conllu", "\n".join(rows))
    assert next(iter(found)).first[0].mentions == (Mention("e1", 0, 2), Mention("e3", 1, 2))
    assert found.skipped == {"mention without words": 1}


@pytest.mark.parametrize("value", ["e1", "((e1-person)", "(e1-person)x", ")"])
def test_an_entity_that_is_no_row_of_brackets_is_bad(value):
    with pytest.raises(
        HeadscopeError, match=rf"x.conllu', line 2: Entity '{re.escape(value)}' is not made of '\(entity"
    ):
        corpus("x.conllu", content(value))


@pytest.mark.parametrize(
    ("entities", "fields", "left_out"),
    [
        (["(person-Ann)"], "etype-identity", 1),
        (["(person-Ann", "person)(place)"], "etype-identity", 2),
        (["Ann"], "identity", 0),
    ],
)
def test_entities_without_groups_are_read_without_coreference(entities, fields, left_out):
    found = corpus("x.conllu", content(*entities, fields=fields))
    assert [example.first[0].mentions for example in found] == [None]
    assert found.skipped == ({"entity without a group": left_out} if left_out else {})


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 10)).filter(lambda span: span[0] < span[1])))
def test_mentions_come_back(spans):
    named = [(f"e{n}", start, end) for n, (start, end) in enumerate(spans)]
    values = []
    for word in range(10):
        ends = [f"{name})" for name, start, end in named if end == word + 1 and start < word]
        begins = [f"({name}-x{')' * (end == word + 1)}" for name, start, end in named if start == word]
        values.append("".join(ends + begins))
    (found,) = mentions(content(*values))
    assert found is not None
    assert {(mention.entity, mention.start, mention.end) for mention in found} == set(named)
    assert [mention.start for mention in found] == sorted(start for _, start, _ in named)


def test_the_mentions_of_a_real_treebank(real_data):
    path = real_data / "ud" / "en_gum-ud-dev.conllu.gz"
    values = re.findall(r"[|\t]Entity=([^|\n]*)", gzip.decompress(path.read_bytes()).decode())
    sentences = [example.first[0] for example in read(path)]
    assert (
        sum(len(sentence.mentions or ()) for sentence in sentences) == sum(value.count("(") for value in values) > 7000
    )
    assert len({sentence.document for sentence in sentences}) == 30


def test_mentions_have_the_kind_of_their_entity() -> None:
    (sentence,) = mentions(content("(e1-person-2(e2-place-1)", "e1)"))
    assert [(mention.entity, mention.kind) for mention in sentence or ()] == [("e1", "person"), ("e2", "place")]
    (sentence,) = mentions(content("(e1-person)", fields="eid"))
    assert [mention.kind for mention in sentence or ()] == [""]

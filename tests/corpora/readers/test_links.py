"""Links of one's own, a sentence a line."""

import json

import pytest

from headscope.corpora import Options
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Link, Sentence
from support.written import corpus

LINKS = Options(kind="links")
GOOD = {
    "text": "He didn't sleep.",
    "words": ["He", "did", "n't", "sleep", "."],
    "links": [{"source": [0], "target": [3, 1], "relation": "Sleeper"}, {"source": 2, "target": 3}],
}


def jsonl(*records: object) -> str:
    return "\n".join(map(json.dumps, records))


def test_words_are_found_in_the_text_and_links_between_them() -> None:
    spans = ((0, 2), (3, 6), (6, 9), (10, 15), (15, 16))
    links = (Link("Sleeper", (0,), (1, 3)), Link("link", (2,), (3,)))
    assert list(corpus("my.jsonl", jsonl(GOOD), LINKS)) == [
        Example("my.jsonl:1", (Sentence("He didn't sleep.", spans, links=links),))
    ]


def test_words_alone_and_text_alone() -> None:
    links = [{"source": 0, "target": 1}]
    found = corpus(
        "my.jsonl", jsonl({"words": ["He", "slept"], "links": links}, {"text": "He  slept", "links": []}), LINKS
    )
    assert [example.first[0].words for example in found] == [((0, 2), (3, 8)), ((0, 2), (4, 9))]
    assert [example.first[0].text for example in found] == ["He slept", "He  slept"]


def test_a_sentence_may_have_a_name() -> None:
    assert [example.id for example in corpus("my.jsonl", jsonl(GOOD | {"id": "a"}, GOOD), LINKS)] == ["a", "my.jsonl:2"]


def linking(**link: object) -> dict:
    return GOOD | {"links": [{"source": 0, "target": 1} | link]}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (linking(source=7), "the source of a link has word 7, but the words are 0 to 4"),
        (linking(target=[-1]), "the target of a link has word -1, but the words are 0 to 4"),
        (linking(target=[]), "a link has no target; name at least one word"),
        (linking(source=None), "a link has no source; name at least one word"),
        (linking(source=[0, 1], target=[1, 2]), "word 1 is both source and target of a link"),
        (linking(source="He"), "the source of a link has 'He', expected the number of a word"),
        (linking(source=True), "the source of a link has True, expected the number of a word"),
        (linking(target=1.0), "the target of a link has 1.0, expected the number of a word"),
        (linking(relation=1), "'relation' is 1, expected a text"),
        (linking(label="x"), "unknown field 'label'; there are: source, target, relation"),
        (GOOD | {"link": []}, "unknown field 'link'; there are: text, words, links, id"),
        ({"text": "He slept"}, "no 'links'"),
        ({"links": []}, "no 'text'"),
        (GOOD | {"links": {}}, "'links' is {}, expected a list"),
        (GOOD | {"links": [1]}, "'links' has 1, expected an object"),
        (GOOD | {"words": ["He", 7]}, "'words' has 7, expected a text that is not blank"),
        (GOOD | {"words": ["He", " "]}, "'words' has ' ', expected a text that is not blank"),
        (GOOD | {"words": ["He", "sleeps"]}, "the words are not those of the text 'He didn't sleep.'"),
        ([GOOD], "not an object"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line_or_counted(record: object, said: str) -> None:
    content = f"{jsonl(GOOD)}\n{jsonl(record)}"
    with pytest.raises(HeadscopeError) as error:
        corpus("my.jsonl", content, LINKS)
    assert f"line 2: {said}" in str(error.value) and "\n" not in str(error.value)
    kept = corpus("my.jsonl", content, Options(kind="links", skip_bad=True))
    assert len(kept) == 1 and kept.skipped == {"bad": 1}


def test_broken_json_and_names_given_twice() -> None:
    with pytest.raises(HeadscopeError, match=r"line 2: not JSON \(Expecting .* at column \d+\); correct it"):
        corpus("my.jsonl", f"{jsonl(GOOD)}\n{{'text'}}", LINKS)
    with pytest.raises(HeadscopeError, match="line 1: not JSON"):
        corpus("my.jsonl", "[" * 100_000, LINKS)
    with pytest.raises(HeadscopeError, match="example 'a': another example has this id; correct it"):
        corpus("my.jsonl", jsonl(GOOD | {"id": "a"}, GOOD, GOOD | {"id": "a"}), LINKS)

"""The bundled corpus, validated by a check that shares no code with the reader."""

import re
from collections import Counter
from pathlib import Path

import conllu
import pytest

import headscope.corpora
from headscope.corpora import read
from headscope.linguistics.sentence import segment_text

FILES = sorted((Path(headscope.corpora.__file__).parent / "readers" / "sample").glob("*.conllu"))
UPOS = set("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
DEPREL = set(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl "
    "fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root "
    "vocative xcomp".split()
)


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def sentences(request):
    parsed = conllu.parse(request.param.read_text(encoding="utf-8"))
    assert parsed
    return parsed


def words(sentence):
    return [token for token in sentence if isinstance(token["id"], int)]


def name(sentence):
    return sentence.metadata["sent_id"]


def test_every_tree_hangs_together_from_one_root(sentences):
    for sentence in sentences:
        below = {token["id"]: [] for token in words(sentence)} | {0: []}
        for token in words(sentence):
            below[token["head"]].append(token["id"])
        reached, reaching = set(), [0]
        while reaching:
            node = reaching.pop()
            reached.add(node)
            reaching += below[node]
        assert reached == set(below), f"{name(sentence)}: a cycle"
        assert len(below[0]) == 1, f"{name(sentence)}: roots {below[0]}"


def test_parts_of_speech_and_relations_are_universal(sentences):
    for sentence in sentences:
        for token in words(sentence):
            assert token["upos"] in UPOS, f"{name(sentence)}, word {token['id']}"
            assert token["deprel"].partition(":")[0] in DEPREL, f"{name(sentence)}, word {token['id']}"
            assert (token["deprel"] == "root") == (token["head"] == 0), f"{name(sentence)}, word {token['id']}"


def test_the_text_is_that_of_the_words(sentences):
    for sentence in sentences:
        covered, text = 0, ""
        for token in sentence:
            first, last = (token["id"], token["id"]) if isinstance(token["id"], int) else token["id"][::2]
            if first > covered:
                text += token["form"] + ("" if (token["misc"] or {}).get("SpaceAfter") == "No" else " ")
                covered = last
        assert sentence.metadata["text"] == text.rstrip(), name(sentence)


def brackets(token):
    """The entities that open at a word, and those that close."""
    opened, closed, opening, entity = [], [], False, ""
    for part in re.findall(r"[()]|[^()]+", (token["misc"] or {}).get("Entity", "")):
        if part == ")":
            closed.append(entity)
        elif part != "(":
            entity = part.partition("-")[0]
            opened += [entity] * opening
        opening = part == "("
    return opened, closed


def test_entities_open_and_close_in_their_sentence(sentences):
    for sentence in sentences:
        still_open = Counter()
        for token in words(sentence):
            opened, closed = brackets(token)
            still_open.update(opened)
            still_open.subtract(closed)
            assert min(still_open.values(), default=0) >= 0, f"{name(sentence)}, word {token['id']}"
        assert not +still_open, f"{name(sentence)}: {dict(+still_open)}"


def test_the_corpus_is_large_enough_and_says_nothing_twice():
    corpus = read("sample")
    pairs = [example for example in corpus if example.second]
    assert corpus.skipped == {}
    assert len(pairs) >= 60
    assert len(corpus) - len(pairs) >= 200
    assert len({example.id for example in corpus}) == len(corpus)
    texts = Counter(tuple(segment_text(segment) for segment in example.segments) for example in corpus)
    assert {text for text, count in texts.items() if count > 1} == set()


def test_every_sentence_of_the_corpus_is_annotated():
    for example in read():
        for sentence in (*example.first, *example.second):
            assert sentence.words and sentence.upos and sentence.heads and sentence.deprel, example.id
            assert sentence.mentions is not None, example.id

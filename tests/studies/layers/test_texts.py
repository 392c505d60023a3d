"""Windows hold neighbouring sentences of one document, no document is in two parts, and pairs are of two sentences."""

import numpy as np

from headscope.linguistics.sentence import Mention, Sentence
from headscope.studies.layers.layers.sampling import TASKS
from headscope.studies.layers.layers.texts import PARTS, Texts, windows

ROOM = 10


def sentence(document: int) -> Sentence:
    """Four words and two mentions."""
    words = ((0, 3), (4, 8), (9, 12), (13, 17))
    mentions = (Mention("dog", 0, 2), Mention("cat", 2, 4))
    return Sentence("The dogs saw cats", words, mentions=mentions, document=f"document {document}")


def made(tested: frozenset[int] = frozenset()) -> Texts:
    texts = Texts()
    for document in range(10):
        for _ in range(5):
            texts.add(sentence(document), examples=(len(texts),))
    texts.add(Sentence("Generated without a document", mentions=()))
    texts.tested = tested
    texts.windows = windows(texts, lambda given: [len(text.split()) for text in given], ROOM, 0.25, 0)
    return texts


def test_windows_fill_the_room_and_no_document_is_in_two_parts() -> None:
    texts = made()
    assert {part: len(texts.windows[part]) for part in PARTS} == {"train": 18, "choose": 6, "report": 6}
    documents = {part: {number // 5 for window in texts.windows[part] for number in window} for part in PARTS}
    assert documents["report"] == {4, 9} and len(set.union(*documents.values())) == 10 == sum(
        map(len, documents.values())
    )
    assert {tuple(number % 5 for number in window) for window in texts.windows["train"]} == {(0, 1), (2, 3), (4,)}
    report = made(frozenset(range(40, 50))).windows["report"]
    assert {number // 5 for window in report for number in window} == {8, 9}


def test_a_mention_is_paired_with_its_antecedent_and_with_another_mention_of_that_sentence() -> None:
    texts = made()
    cases = list(TASKS["coreference_across"].cases(texts, "report", np.random.default_rng(0)))
    dogs, cats = ((0, 2), (4, 6)), ((2, 4), (6, 8))
    assert [(case.spans, case.answer) for case in cases[:4]] == [
        (dogs, "same"), (((2, 4), (4, 6)), "other"), (cats, "same"), (((0, 2), (6, 8)), "other")
    ]  # fmt: skip
    assert len(cases) == 4 * 4  # a sentence alone in its window has none
    text = texts.sentences[cases[0].text]
    assert text.forms == (*sentence(0).forms, *sentence(0).forms)
    assert texts.examples[cases[0].text] == (20, 21) and texts.units[cases[0].text] == 20


def test_the_first_sentences_of_a_part_are_kept_and_windows_stay() -> None:
    texts = made()
    order = {"train": list(range(9)), "choose": [9], "report": list(range(10, 20))}
    texts.order = dict(order)
    windows_before = dict(texts.windows)
    assert texts.keep_first(20, 3) == {"train on": (10, 10), "test on": (3, 10)}
    assert texts.order == order | {"report": [10, 11, 12]} and texts.windows == windows_before
    texts.order = {"train": list(range(18)), "choose": [18, 19], "report": []}
    assert texts.keep_first(10, 3) == {"train on": (10, 20), "test on": (0, 0)}
    assert texts.order == {"train": list(range(9)), "choose": [18], "report": []}

"""Windows of documents: neighbouring sentences that a model reads together."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np

from headscope.encoding.parsed_sentences import every_fifth
from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.texts import Part, Texts

# The number of tokens of each text, without special tokens.
Sizes = Callable[[list[str]], list[int]]
Window = list[int]


def windows(texts: Texts, sizes: Sizes, room: int, held_out: float, seed: int) -> dict[Part, list[Window]]:
    """The numbers of the sentences of each window by part: as many neighbours as fit. No document is in two parts.

    * `room`: most tokens of a window, without special tokens; `held_out`: the share of training documents for choices.

    Without corpora to train on, every fifth document is tested.
    """
    documents = list(_documents(texts))
    if texts.tested:
        train = [each for each in documents if each[0] not in texts.tested]
        report = [each for each in documents if each[0] in texts.tested]
    else:
        train, report = ([documents[place] for place in places] for places in every_fifth(range(len(documents))))
    train = [train[place] for place in np.random.default_rng(seed).permutation(len(train))]
    choose = round(held_out * len(train))
    parts = {"train": train[choose:], "choose": train[:choose], "report": report}
    return {
        part: [window for each in some for window in _windows(texts, each, sizes, room)] for part, some in parts.items()
    }


def joined(sentences: Sequence[Sentence]) -> tuple[Sentence, list[int]]:
    """Join sentences by a blank, without their annotation. Returns: the text, and the first word of each sentence.

    >>> joined([Sentence("It is.", ((0, 2), (3, 6))), Sentence("So?", ((0, 3),))])[0].words
    ((0, 2), (3, 6), (7, 10))
    """
    words, firsts, start = [], [], 0
    for sentence in sentences:
        firsts.append(len(words))
        words += [(start + one, start + other) for one, other in sentence.words]
        start += len(sentence.text) + 1
    return Sentence(" ".join(sentence.text for sentence in sentences), tuple(words)), firsts


def _documents(texts: Texts) -> Iterator[list[int]]:
    """The numbers of the sentences of each document that has coreference."""
    numbers = [
        number for number, each in enumerate(texts.sentences) if texts.examples[number] and each.mentions is not None
    ]

    def document(number: int) -> tuple[bool, str]:
        return number in texts.tested, texts.sentences[number].document

    return (list(each) for _, each in groupby(numbers, document))


def _windows(texts: Texts, document: Sequence[int], sizes: Sizes, room: int) -> Iterator[Window]:
    window, left = [], room
    tokens = sizes([f" {texts.sentences[number].text}" for number in document])
    for number, size in zip(document, tokens, strict=True):
        if size > left:
            yield window
            window, left = [], room
        window.append(number)
        left -= size
    yield window

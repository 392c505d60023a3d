"""The texts that cases of tasks are made from: sentences of corpora, and texts made from them.

Of documents, a model reads neighbouring sentences together: a window.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from headscope.corpora import Corpus
from headscope.encoding.parsed_sentences import every_fifth
from headscope.linguistics.sentence import Sentence, number_of, segment_text, starts_of

Part = str  # "train", "choose" or "report"
PARTS: tuple[Part, ...] = ("train", "choose", "report")


@dataclass
class Texts:
    """Texts in three parts: classifiers train on the first, choices are made on the second, scores on the third.

    * `sentences`: sentences of corpora, then texts made from them; `units`: the number of what each is resampled with:
      its document in a corpus that has them, else the sentence that it is or is made from.
    * `examples`: the numbers of the examples of corpora that each text is of; none for a text that is generated.
    * `order`: the numbers of the sentences of corpora by part, in random order.
    * `tested`: the numbers of all sentences to test on, where there are corpora to train on.
    * `windows`: the numbers of neighbouring sentences that the model reads together, by part.
    """

    sentences: list[Sentence] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    examples: list[tuple[int, ...]] = field(default_factory=list)
    order: dict[Part, list[int]] = field(default_factory=dict)
    tested: frozenset[int] = frozenset()
    windows: dict[Part, list[list[int]]] = field(default_factory=dict)

    def add(self, sentence: Sentence, origin: int | None = None, examples: tuple[int, ...] = ()) -> int:
        """Add a text, perhaps made from the sentence of the number `origin`; return its number."""
        self.sentences.append(sentence)
        self.units.append(len(self.units) if origin is None else self.units[origin])
        self.examples.append(examples)
        return len(self.units) - 1

    def add_corpus(self, corpus: Corpus) -> list[int]:
        """Add the sentences of a corpus; return their numbers."""
        first = 1 + max((number for numbers in self.examples for number in numbers), default=-1)
        numbers = []
        for number, example in enumerate(corpus, first):
            for sentence in example.sentences:
                numbers.append(self.add(sentence, examples=(number,)))
                if corpus.by_document and example.document:
                    self.units[-1] = number_of(example.document)
        return numbers

    def keep_first(self, trained: int, tested: int) -> dict[str, tuple[int, int]]:
        """Keep at most this many sentences to train and choose on, and to test on; windows stay.

        Returns: the sentences that are kept, and those that there were, by what they are for.
        """
        choose, train = len(self.order["choose"]), len(self.order["train"])
        share = min(1, trained / max(1, choose + train))
        kept = {"train": round(share * train), "choose": round(share * choose), "report": tested}
        before = {"train on": choose + train, "test on": len(self.order["report"])}
        self.order = {part: numbers[: kept[part]] for part, numbers in self.order.items()}
        now = {"train on": len(self.order["train"]) + len(self.order["choose"]), "test on": len(self.order["report"])}
        return {purpose: (now[purpose], before[purpose]) for purpose in before}

    def __len__(self) -> int:
        return len(self.sentences)


def split(corpora: Sequence[Corpus], training: Sequence[Corpus], held_out: float, seed: int) -> Texts:
    """The sentences of all corpora in their parts.

    * `training`: corpora to train on; without them, four documents (or sentences) of five of each corpus.
    * `held_out`: the share of training sentences for choices.

    >>> from headscope import read
    >>> texts = split([read("sample", limit=10)], [], 0.25, 0)
    >>> {part: len(numbers) for part, numbers in texts.order.items()}
    {'train': 7, 'choose': 2, 'report': 2}
    """
    texts, random = Texts(), np.random.default_rng(seed)
    train: list[int] = [number for corpus in training for number in texts.add_corpus(corpus)]
    report: list[int] = []
    for corpus in corpora:
        numbers = texts.add_corpus(corpus)
        units = [texts.units[number] for number in numbers]
        kept, apart = ([], range(len(numbers))) if training else every_fifth(units, corpus.by_document)
        train += [numbers[index] for index in kept]
        report += [numbers[index] for index in apart]
    train, report = random.permutation(train).tolist(), random.permutation(report).tolist()
    choose = round(held_out * len(train))
    texts.tested = frozenset(report) if training else frozenset()
    texts.order = {"train": train[choose:], "choose": train[:choose], "report": report}
    return texts


# The number of tokens of each text, without special tokens.
Sizes = Callable[[list[str]], list[int]]
Window = list[int]


def windows(texts: Texts, sizes: Sizes, room: int, held_out: float, seed: int) -> dict[Part, list[Window]]:
    """The sentences of each window by part: the neighbours that fit. No document is in two parts.

    * `room`: most tokens of a window, without special tokens; `held_out`: the share of training documents for choices.

    Without corpora to train on, every fifth document is tested.
    """
    documents = list(_documents(texts))
    if texts.tested:
        train = [document for document in documents if document[0] not in texts.tested]
        report = [document for document in documents if document[0] in texts.tested]
    else:
        train, report = ([documents[index] for index in indices] for indices in every_fifth(range(len(documents))))
    train = [train[index] for index in np.random.default_rng(seed).permutation(len(train))]
    choose = round(held_out * len(train))
    parts = {"train": train[choose:], "choose": train[:choose], "report": report}
    return {
        part: [window for document in some for window in _windows(texts, document, sizes, room)]
        for part, some in parts.items()
    }


def joined(sentences: Sequence[Sentence]) -> tuple[Sentence, list[int]]:
    """Join sentences to a text, without their annotation. Returns: the text, and the first word of each sentence.

    >>> joined([Sentence("It is.", ((0, 2), (3, 6))), Sentence("So?", ((0, 3),))])[0].words
    ((0, 2), (3, 6), (7, 10))
    """
    words, firsts = [], []
    for sentence, start in zip(sentences, starts_of(sentences), strict=True):
        firsts.append(len(words))
        words += [(start + begin, start + end) for begin, end in sentence.words]
    return Sentence(segment_text(sentences), tuple(words)), firsts


def _documents(texts: Texts) -> Iterator[list[int]]:
    """The numbers of the sentences of each document that has coreference."""
    numbers = [
        number
        for number, sentence in enumerate(texts.sentences)
        if texts.examples[number] and sentence.mentions is not None
    ]

    def document(number: int) -> tuple[bool, str]:
        return number in texts.tested, texts.sentences[number].document

    return (list(group) for _, group in groupby(numbers, document))


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

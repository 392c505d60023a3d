"""Inputs and cases of a corpus: documents in segments of a number of tokens, with the mentions to resolve in each."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from typing import Literal, NamedTuple

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.heads.coreference.cases import Case, Headed, anaphoric, mentions, question_case

Context = Literal["segments", "first", "windows"]
# How many tokens each of some texts has, without special tokens.
Sizes = Callable[[list[str]], list[int]]


@dataclass(frozen=True)
class Plan:
    """The inputs that a model is to read, and the cases of each by its id; `questions`: whether the corpus asks."""

    inputs: Corpus
    cases: Mapping[str, tuple[Case, ...]]
    questions: bool

    @property
    def stereotypes(self) -> bool:
        """True if a question of the corpus is about stereotypes."""
        return any(case.question and case.question.stereotype for cases in self.cases.values() for case in cases)


class Part(NamedTuple):
    """Some sentences of a document, [start, stop); the mentions of those from `new` on are asked about."""

    start: int
    new: int
    stop: int


def plan(corpus: Corpus, sizes: Sizes, room: int, context: Context = "segments", singletons: bool = True) -> Plan:
    """The inputs and cases of a corpus.

    * `room`: most tokens of a segment, without special tokens; a sentence that is longer is a segment of its own.
    * `context`: see `parts`.
    * `singletons`: whether mentions of entities that a document mentions once are candidates.

    The inputs of a corpus with questions are its examples as they are.

    Raises `HeadscopeError` if the corpus has neither coreference nor questions, or if no mention has an antecedent.
    """
    if any(sentence.question for example in corpus for sentence in example.sentences):
        return _questions(corpus)
    if not any(sentence.mentions is not None for example in corpus for sentence in example.sentences):
        raise HeadscopeError(
            f"corpus '{corpus.name}' has no coreference; name a treebank with Entity= (CoNLL-U), a file of CoNLL-2012, "
            "or --kind gap, winobias, winogender or lin2019"
        )
    documents = [document if singletons else _without_singletons(document) for document in _documents(corpus)]
    counts: Counter[str] = Counter()
    inputs: list[Example] = []
    cases: dict[str, tuple[Case, ...]] = {}
    for unit, sentences in enumerate(documents):
        segments = parts(sizes([f" {sentence.text}" for sentence in sentences]), room, context)
        for part in segments:
            inputs.append(Example(f"{sentences[0].document} ({len(inputs)})", sentences[part.start : part.stop]))
            cases[inputs[-1].id] = tuple(_cases(sentences, part, unit))
        counts["sentences after the first segment"] += len(sentences) - segments[-1].stop
        counts["mentions whose antecedents are all cut off"] += len(list(anaphoric(list(mentions(sentences)))))
    counts["mentions whose antecedents are all cut off"] -= sum(map(len, cases.values()))
    if not any(cases.values()):
        raise HeadscopeError(
            f"corpus '{corpus.name}': no mention has an antecedent in {room} tokens; use more --tokens"
        )
    skipped = corpus.skipped | dict(+counts)
    segmented = replace(corpus, n_examples=len(inputs), skipped=skipped, again=partial(iter, inputs))
    return Plan(segmented, cases, False)


def parts(sizes: Sequence[int], room: int, context: Context) -> list[Part]:
    """Parts of a document that are read together; `sizes` are the numbers of tokens of the sentences.

    * "segments": one after the other, as many whole sentences as there is room for.
    * "first": the first segment only (Clark et al. cut their documents to 128 tokens).
    * "windows": each fills half of the room with new sentences, the other half with those before them.

    >>> parts([40, 40, 40, 40], 100, "segments")
    [Part(start=0, new=0, stop=2), Part(start=2, new=2, stop=4)]
    >>> parts([40, 40, 40, 40], 100, "windows")
    [Part(start=0, new=0, stop=2), Part(start=1, new=2, stop=3), Part(start=2, new=3, stop=4)]
    """
    sums = [0, *accumulate(sizes)]
    segments, new = [], 0
    while new < len(sizes) and not (segments and context == "first"):
        half = room // 2 if context == "windows" and new else room
        stop = next((end for end in range(new + 2, len(sums)) if sums[end] - sums[new] > half), len(sums)) - 1
        start = new
        while context == "windows" and start and sums[stop] - sums[start - 1] <= room:
            start -= 1
        segments.append(Part(start, new, stop))
        new = stop
    return segments


def _documents(corpus: Corpus) -> Iterator[tuple[Sentence, ...]]:
    """The sentences of each document; a pair of segments counts as its sentences."""
    sentences = (sentence for example in corpus for sentence in example.sentences)
    for _, document in groupby(sentences, key=lambda sentence: sentence.document):
        yield tuple(document)


def _without_singletons(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    times = Counter(mention.entity for sentence in sentences for mention in sentence.mentions or ())
    return tuple(
        replace(sentence, mentions=tuple(mention for mention in sentence.mentions or () if times[mention.entity] > 1))
        for sentence in sentences
    )


def _cases(sentences: tuple[Sentence, ...], part: Part, unit: int) -> Iterator[Case]:
    headed: list[Headed] = list(mentions(sentences[part.start : part.stop]))
    since = sum(len(sentence.words) for sentence in sentences[part.start : part.new])
    return anaphoric(headed, unit, since)


def _questions(corpus: Corpus) -> Plan:
    units: dict[str, int] = {}
    cases: dict[str, tuple[Case, ...]] = {}
    sides: dict[str, set[str]] = {}
    for example in corpus:
        for sentence in example.sentences[:1]:
            if question := sentence.question:
                unit = units.setdefault(question.pair or example.id, len(units))
                cases[example.id] = (question_case(sentence, question, unit),)
                if question.stereotype:
                    sides.setdefault(question.pair, set()).add(question.stereotype)
    alone = Counter({"sentences without a partner": sum(len(sentences) == 1 for sentences in sides.values())})
    return Plan(replace(corpus, skipped=corpus.skipped | dict(+alone)), cases, True)

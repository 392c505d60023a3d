"""Tasks of a probing classifier: cases with their right answers, made from texts by a rule; a file for each family."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headscope.corpora.parsing.conllu_rows import named_values
from headscope.linguistics.dependencies import Dependency, dependencies_of
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.layers.layers.texts import Part, Texts

Span = tuple[int, int]
WHOLE = ()
CONNEAU = "Conneau et al. 2018, section 2"


class ProbeCase(NamedTuple):
    """A case of a task.

    * `text`: its number; `spans`: words [start, end) of one or two spans of it; `WHOLE` for the whole text.
    * `answer`: a class, a set of classes, or a number.
    * `word`: the form that decides the answer of the control task; "" where there is none.
    """

    text: int
    spans: tuple[Span, ...]
    answer: str | float | tuple[str, ...]
    word: str = ""


Rule = Callable[[Texts, Part, np.random.Generator], Iterator[ProbeCase]]


@dataclass(frozen=True)
class ProbingTask:
    """A task: its name, its words on a page, its rule, and the paper it is from.

    * `needs`: the annotation of a corpus without which there are no cases.
    * `cases`: the cases of some sentences of corpora, in their order.
    * `is_value`: answers are numbers; `is_set`: sets of classes.
    * `is_asked`: measured only where it is named.
    * `is_sense`: answers are senses, read from the nearest training case of the same word, not by a classifier.
    """

    name: str
    words: str
    needs: str
    source: str
    cases: Rule
    is_value: bool = False
    is_asked: bool = False
    is_set: bool = False
    is_sense: bool = False

    def classes_of(self, case: ProbeCase) -> tuple[str, ...]:
        """The classes of a case, one unless they are a set; none where the answer is a number."""
        return case.answer if isinstance(case.answer, tuple) else () if self.is_value else (str(case.answer),)


def each_sentence(rule: Callable[[Sentence], Iterator[tuple]]) -> Rule:
    """The rule of cases that need nothing but their sentence; it gives spans, answer and perhaps word."""

    def cases(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
        for number in texts.order[part]:
            yield from (ProbeCase(number, *case) for case in rule(texts.sentences[number]))

    return cases


def dependencies(sentence: Sentence) -> list[Dependency]:
    """The words of a sentence with their syntactic heads; none without a tree."""
    return list(dependencies_of(Example("", (sentence,))))


def feature(sentence: Sentence, index: int, name: str) -> str:
    """A morphological feature of a word; "" where it has none.

    >>> feature(Sentence("cats", ((0, 4),), morphology=("Case=Nom|Number=Plur",)), 0, "Number")
    'Plur'
    """
    return named_values(sentence.morphology[index]).get(name, "") if sentence.morphology else ""

"""Answers that are parts of a passage: where they stand, and how an answer is scored (SQuAD: Rajpurkar et al. 2016)."""

import re
import string
from collections import Counter
from collections.abc import Sequence

from headscope.linguistics.sentence import Example

ARTICLES, MARKS = re.compile(r"\b(a|an|the)\b"), str.maketrans("", "", string.punctuation)


def answer_spans(example: Example) -> list[tuple[int, int]]:
    """The characters [start, end) of the right answers in the passage, from the label that a reader gives them.

    >>> answer_spans(Example("1", (), (), "20:28 17:28"))
    [(20, 28), (17, 28)]
    """
    pairs = (span.split(":") for span in str(example.label).split())
    return [(int(start), int(end)) for start, end in pairs]


def normalised(text: str) -> list[str]:
    """The words of an answer as SQuAD compares them: without case, punctuation and articles.

    >>> normalised("The  Norman-French!")
    ['normanfrench']
    """
    return ARTICLES.sub(" ", text.lower().translate(MARKS)).split()


def word_f1(answer: str, right: str) -> float:
    """The harmonic mean of precision and recall of the words of an answer; 0 without a common word.

    >>> word_f1("in the north of France", "France")
    0.4
    """
    words, wanted = normalised(answer), normalised(right)
    common = (Counter(words) & Counter(wanted)).total()
    return 2 * common / (len(words) + len(wanted)) if common else 0.0


def answer_scores(answer: str, right: Sequence[str]) -> tuple[float, float]:
    """The highest F1 over words of an answer with any of the right ones, and whether it is one of them."""
    return (
        max(word_f1(answer, text) for text in right),
        max(float(normalised(answer) == normalised(text)) for text in right),
    )


def scores_of_passage(example: Example) -> tuple[float, float]:
    """The scores of the whole passage as the answer, which needs no model."""
    text = example.second[0].text
    return answer_scores(text, [text[start:end] for start, end in answer_spans(example)])

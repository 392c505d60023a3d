"""Cases of coreference: a mention, its candidate antecedents and the right ones (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headscope.linguistics.sentence import Mention, Question, Sentence
from headscope.studies.coreference.mentions import Headed, headed


@dataclass(frozen=True, slots=True)
class Case:
    """A mention, the mentions that may be its antecedent, and which of them are.

    * `candidates`: in the order of their head words.
    * `right`: head words of antecedents; none where a question has no right answer.
    * `unit`: the number of what is resampled together: a document, or a pair of sentences.
    * `question`: what the corpus asks, where it asks itself.
    """

    mention: Headed
    candidates: tuple[Headed, ...]
    right: frozenset[int]
    unit: int
    question: Question | None = None

    def where(self, readable: Sequence[bool]) -> "Case":
        """The case with those candidates only whose head word can be read."""
        kept = tuple(each for each in self.candidates if readable[each.word])
        return replace(self, candidates=kept, right=self.right & {each.word for each in kept})


def anaphoric(mentions: Sequence[Headed], unit: int = 0, since: int = 0) -> Iterator[Case]:
    """The mentions that have an antecedent, and start at word `since` or later.

    The candidates are all mentions whose head word stands before that of the mention, but for those inside of it; an
    antecedent is one of the same entity. Where several mentions have the same head word, a head that points at it
    points at all of them.

    >>> one, it = (Headed(word, word, word + 1, "e1", "nominal", ("cat",)) for word in (0, 3))
    >>> [(case.mention.word, sorted(case.right)) for case in anaphoric([one, it])]
    [(3, [0])]
    """
    ordered = sorted(mentions, key=lambda each: (each.word, each.start, -each.end))
    for mention in ordered:
        if mention.start >= since:
            candidates = tuple(each for each in ordered if each.word < mention.word and not each.inside(mention))
            right = frozenset(each.word for each in candidates if each.entity == mention.entity)
            if right:
                yield Case(mention, candidates, right, unit)


def question_case(sentence: Sentence, question: Question, unit: int = 0) -> Case:
    """Case of a question of the corpus; its candidates may also stand after the pronoun."""
    pronoun, *candidates = (
        headed(sentence, Mention(str(number), *span))
        for number, span in enumerate([question.pronoun, *question.candidates])
    )
    right = () if question.answer is None else (candidates[question.answer].word,)
    return Case(pronoun, tuple(candidates), frozenset(right), unit, question)

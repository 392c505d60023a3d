"""Mentions with their head words, and cases: a mention, its candidate antecedents and the right ones.

Clark et al. 2019, section 4.3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from headscope.linguistics.features import mention_head
from headscope.linguistics.sentence import Mention, Question, Sentence
from headscope.studies.heads.coreference.gender_number import PRONOUNS

KINDS = ("pronoun", "proper", "nominal")
BY_UPOS = {"PRON": "pronoun", "DET": "pronoun", "PROPN": "proper"}


class Headed(NamedTuple):
    """A mention with its head word; words are numbered through all sentences of an example, from 0.

    * `word`: its head; `start`, `end`: its words [start, end).
    * `entity`: two mentions of one document corefer when theirs is the same.
    * `kind`: one of `KINDS`.
    * `forms`: its words in lower case, of which `head` is that of the head word.
    """

    word: int
    start: int
    end: int
    entity: str
    kind: str
    forms: tuple[str, ...]

    @property
    def head(self) -> str:
        """The head word in lower case."""
        return self.forms[self.word - self.start]

    def inside(self, other: "Headed") -> bool:
        """True if all words of this mention are words of the other."""
        return other.start <= self.start and self.end <= other.end


def mentions(sentences: Iterable[Sentence]) -> Iterator[Headed]:
    """All mentions of some sentences, in their order.

    The head is the word that hangs on a word outside of the mention; where there is no tree, the last word.

    >>> cat = Sentence("the old cat", ((0, 3), (4, 7), (8, 11)), mentions=(Mention("e1", 0, 3),))
    >>> [(each.word, each.head, each.kind) for each in mentions([cat, cat])]
    [(2, 'cat', 'nominal'), (5, 'cat', 'nominal')]
    """
    before = 0
    for sentence in sentences:
        yield from (headed(sentence, mention, before) for mention in sentence.mentions or ())
        before += len(sentence.words)


def headed(sentence: Sentence, mention: Mention, before: int = 0) -> Headed:
    """A mention with its head word; `before` words stand before its sentence."""
    word = mention_head(sentence, mention)
    written = [sentence.text[start:end] for start, end in sentence.words[mention.start : mention.end]]
    kind = _kind(sentence.upos[word] if sentence.upos else "", written[word - mention.start])
    forms = tuple(form.lower() for form in written)
    return Headed(before + word, before + mention.start, before + mention.end, mention.entity, kind, forms)


def _kind(upos: str, form: str) -> str:
    """By the part of speech of the head word; where there is none, by the word itself."""
    if upos:
        return BY_UPOS.get(upos, "nominal")
    return "pronoun" if form.lower() in PRONOUNS else "proper" if form[:1].isupper() else "nominal"


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
        kept = tuple(candidate for candidate in self.candidates if readable[candidate.word])
        return replace(self, candidates=kept, right=self.right & {candidate.word for candidate in kept})


def anaphoric(mentions: Sequence[Headed], unit: int = 0, since: int = 0) -> Iterator[Case]:
    """The mentions that have an antecedent, and start at word `since` or later.

    The candidates are all mentions whose head word stands before that of the mention, but for those inside of it; an
    antecedent is one of the same entity. Where several mentions have the same head word, a head that points at it
    points at all of them.

    >>> one, it = (Headed(word, word, word + 1, "e1", "nominal", ("cat",)) for word in (0, 3))
    >>> [(case.mention.word, sorted(case.right)) for case in anaphoric([one, it])]
    [(3, [0])]
    """
    ordered = sorted(mentions, key=lambda mention: (mention.word, mention.start, -mention.end))
    for mention in ordered:
        if mention.start >= since:
            candidates = tuple(
                candidate for candidate in ordered if candidate.word < mention.word and not candidate.inside(mention)
            )
            right = frozenset(candidate.word for candidate in candidates if candidate.entity == mention.entity)
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

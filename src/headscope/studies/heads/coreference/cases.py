"""Mentions with their head words, and cases: a mention, its candidate antecedents and the right ones.

Clark et al. 2019, section 4.3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from headscope.linguistics.features import mention_head
from headscope.linguistics.sentence import Mention, Question, Sentence

KINDS = ("pronoun", "proper", "nominal")
BY_UPOS = {"PRON": "pronoun", "DET": "pronoun", "PROPN": "proper"}


class Features(NamedTuple):
    """Number, gender and person of a mention; None if unknown, which agrees with everything."""

    number: str | None = None
    gender: str | None = None
    person: int | None = None

    def agrees(self, other: "Features") -> bool:
        """True if no feature differs that is known of both.

        >>> Features("singular", None, 3).agrees(Features(None, "female", 3))
        True
        """
        return all(None in pair or pair[0] == pair[1] for pair in zip(self, other, strict=True))


_PRONOUNS = {
    "i me my mine myself": Features("singular", None, 1),
    "we us our ours ourselves": Features("plural", None, 1),
    "you your yours": Features(None, None, 2),
    "yourself": Features("singular", None, 2),
    "yourselves": Features("plural", None, 2),
    "he him his himself": Features("singular", "male", 3),
    "she her hers herself": Features("singular", "female", 3),
    "it its itself this which": Features("singular", "neuter", 3),
    "they them their theirs themselves these those": Features("plural", None, 3),
    "who whom whose that one oneself": Features(None, None, 3),
}
PRONOUNS = {form: features for forms, features in _PRONOUNS.items() for form in forms.split()}
MALE = set(
    "mr sir lord king prince duke emperor pope father son brother uncle nephew grandfather grandson husband dad boy "
    "man gentleman guy actor waiter men boys brothers sons fathers "
    "john james robert michael william david richard joseph thomas charles daniel matthew mark paul george peter "
    "henry edward frank jack harry tom bill jim bob mike steve stephen andrew philip simon martin alexander "
    "louis adam alan albert anthony arthur ben benjamin brian christopher eric fred jacob joe kevin luke nicholas "
    "oliver patrick ryan sam scott walter".split()
)
FEMALE = set(
    "mrs ms miss madam lady queen princess duchess empress mother daughter sister aunt niece grandmother "
    "granddaughter wife mum mom girl woman actress waitress women girls sisters daughters mothers "
    "mary elizabeth anna anne ann jane margaret sarah susan linda barbara jennifer maria helen alice emma emily "
    "catherine katherine kate julia laura lucy rose ruth amy carol caroline charlotte christine clara claire diana "
    "dorothy eleanor ellen eva grace irene jessica joan judith karen lisa martha nancy olivia rachel rebecca sophie "
    "victoria virginia".split()
)
PLURALS = set("people men women children police feet teeth mice".split())


@cache
def features(forms: tuple[str, ...], head: str, kind: str) -> Features:
    """Number, gender and person of a mention from its words in lower case.

    >>> features(("the", "two", "sisters"), "sisters", "nominal")
    Features(number='plural', gender='female', person=3)
    >>> features(("her",), "her", "pronoun").number
    'singular'
    """
    if kind == "pronoun":
        return PRONOUNS.get(head, Features())
    words = set(forms)
    male, female = bool(words & MALE), bool(words & FEMALE)
    gender = None if male == female else "male" if male else "female"
    return Features(_number(words, head, kind), gender, 3)


def _number(words: set[str], head: str, kind: str) -> str | None:
    if "and" in words and kind == "proper":
        return "plural"
    if head in PLURALS:
        return "plural"
    if head.endswith("s") and not head.endswith(("ss", "us", "is")):
        return None if kind == "proper" else "plural"
    return "singular"


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
    """All mentions of the sentences, in their order.

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

"""The mentions of an example with their head words, what kind they are, and how they are written."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headscope.linguistics.features import mention_head
from headscope.linguistics.sentence import Mention, Sentence
from headscope.studies.coreference.gender_number import PRONOUNS

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

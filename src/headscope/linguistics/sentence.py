"""The values that pass between the parts: sentences and examples of a corpus."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate

# The end of a sentence in Chinese or Japanese, also in quotes or brackets: the next one follows without a blank.
WITHOUT_BLANKS = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff][”’\"')\]]*$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of an entity: the words [start, end) of one sentence, counted from 0.

    Two mentions of one document corefer when their `entity` is the same. `kind`: of the entity ("person", "place"), ""
    where the corpus does not have it; equal mentions may differ in it.
    """

    entity: str
    start: int
    end: int
    kind: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Link:
    """A link between words of one sentence, counted from 0: from a frame element to the word that evokes its frame.

    * `relation`: its name; `source`, `target`: the words, at least one each, in order, not always neighbours.
    * `core`: whether a frame element is core; None where the links are no frame elements.
    """

    relation: str
    source: tuple[int, ...]
    target: tuple[int, ...]
    core: bool | None = None

    @property
    def distance(self) -> int:
        """The distance of the nearest words of source and target, in words: 1 for neighbours, 0 where they share one.

        >>> Link("Experiencer", (0, 1), (4,)).distance
        3
        """
        return min(abs(first - second) for first in self.source for second in self.target)


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a diagnostic set of coreference: the mention to which a pronoun of a sentence refers.

    Mentions are words [start, end) of the sentence, counted from 0.

    * `pronoun`, `candidates`: the mentions; `answer`: the candidate that is right, from 0; None where none is.
    * `stereotype`: "pro" where the pronoun has the gender that is expected of the first candidate's occupation, "anti"
      where it has the other one, else "".
    * `pair`: an identifier that a sentence of each of the two shares with its partner.
    * `condition`: the name of its kind of sentence, where the corpus has several.
    """

    pronoun: tuple[int, int]
    candidates: tuple[tuple[int, int], ...]
    answer: int | None
    stereotype: str = ""
    pair: str = ""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A case of a probing task of one's own: one or two spans of a sentence, and what they are labelled with.

    * `spans`: words [start, end), counted from 0; `labels`: one, or a set of them.
    * `group`: tested cases of a group are also scored apart; "" for none.
    * `lemma`: the word whose senses the labels are; "" where they are none.
    """

    spans: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]
    group: str = ""
    lemma: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, and where the corpus has it, its words and their annotation.

    Annotations are parallel to `words`; an empty tuple means that the corpus does not have them.

    * `text`: the sentence as written.
    * `words`: the characters [start, end) of `text` that each syntactic word covers. The words of
      a multiword token cover all of its characters (German "zum" = "zu" + "dem"), unless they join
      to it ("don't" = "do" + "n't").
    * `upos`: universal parts of speech.
    * `heads`: the syntactic head of each word, counted from 1; 0 is the root.
    * `deprel`: the relation of each word to its head.
    * `mentions`: the entity mentions of the sentence; None where the corpus has no coreference.
    * `document`: the document that it stands in, within which names of entities are unique; "" if that is not known.
    * `links`: between words of the sentence, where the corpus has them beside its tree.
    * `question`: what the corpus asks about one of its pronouns, if anything.
    * `phrases`: the words [start, end), counted from 0, of each phrase of two or more words, the longest first; None
      where the corpus has no phrases.
    * `morphology`: the features of each word as CoNLL-U writes them ("Number=Sing|Person=3"), "" for none.
    * `phrase_labels`: the category of each of `phrases`, without function tags ("NP"); the outermost, where several
      have the same words. `top`: the categories of the parts of the outermost clause ("NP", "VP", ".").
    * `chunks`: the tag of each word: "B-NP" begins a chunk, "I-NP" continues it, "O" is in none.
    * `labelled`: spans with labels, where the corpus is a probing task of its own.
    * `classes`: the class that the corpus gives each word, such as a region of a protein; "" for none.

    >>> Sentence("She slept.", words=((0, 3), (4, 9), (9, 10)), upos=("PRON", "VERB", "PUNCT")).forms
    ('She', 'slept', '.')
    """

    text: str
    words: tuple[tuple[int, int], ...] = ()
    upos: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    deprel: tuple[str, ...] = ()
    mentions: tuple[Mention, ...] | None = None
    document: str = ""
    links: tuple[Link, ...] = ()
    question: Question | None = None
    phrases: tuple[tuple[int, int], ...] | None = None
    morphology: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    phrase_labels: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    labelled: tuple[LabelledSpan, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """The words as the text has them."""
        return tuple(self.text[start:end] for start, end in self.words)


@dataclass(frozen=True, slots=True)
class Example:
    """One input of a model: a segment of sentences, or a pair of segments.

    * `id`: where it comes from, unique in the corpus ("dev.tsv:12", "weblog-7").
    * `first`: the sentences of the first segment, see `segment_text`.
    * `second`: those of the second segment; empty where the example is no pair.
    * `label`: the task's label, if the corpus has one.
    """

    id: str
    first: tuple[Sentence, ...]
    second: tuple[Sentence, ...] = ()
    label: str | float | None = None

    @property
    def segments(self) -> tuple[tuple[Sentence, ...], ...]:
        """The one or two segments that are not missing."""
        return (self.first, self.second) if self.second else (self.first,)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of both segments."""
        return (*self.first, *self.second)

    @property
    def document(self) -> str:
        """The document of its first sentence; "" if that is not known."""
        return self.first[0].document if self.first else ""

    @property
    def n_words(self) -> int:
        """The number of words of the example; they are numbered through all of its sentences."""
        return sum(len(sentence.words) for sentence in self.sentences)


@lru_cache
def number_of(document: str) -> int:
    """A number for the name of a document, different from those of examples.

    >>> number_of("letter-7") == number_of("letter-7") > 1 << 62
    True
    """
    return int.from_bytes(blake2b(document.encode(), digest_size=8).digest()) >> 2 | 1 << 62


def segment_text(sentences: Sequence[Sentence]) -> str:
    """The text of a segment: its sentences, joined by a blank, after one in Chinese or Japanese by none.

    >>> segment_text((Sentence("It rained."), Sentence("We stayed in.")))
    'It rained. We stayed in.'
    >>> segment_text((Sentence("雨。"), Sentence("風。")))
    '雨。風。'
    """
    joined = "".join([sentence.text + _after(sentence) for sentence in sentences[:-1]])
    return joined + sentences[-1].text if sentences else ""


def starts_of(sentences: Sequence[Sentence]) -> list[int]:
    """Where in the text of a segment each of its sentences begins.

    >>> starts_of((Sentence("It rained."), Sentence("We stayed in.")))
    [0, 11]
    """
    lengths = (len(sentence.text) + len(_after(sentence)) for sentence in sentences)
    return list(accumulate(lengths, initial=0))[:-1]


def _after(sentence: Sentence) -> str:
    return "" if WITHOUT_BLANKS.search(sentence.text) else " "

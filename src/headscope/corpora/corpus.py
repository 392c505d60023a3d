"""A corpus: examples that can be iterated again and again, with what is known of them."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np
from jaxtyping import Int

from headscope.corpora.stream import Stream
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, number_of
from headscope.statistics.intervals import LEAST_DOCUMENTS, TOO_FEW
from headscope.storage.hashes import SourceFiles

MOST_CLASSES = 300  # of words that are compared


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Examples that can be iterated again and again; a large corpus is read again each time.

    * `name`: as a result names it.
    * `sha256`: of its files' bytes, or of its texts where it has no files.
    * `n_examples`: how many there are; `n_documents`: in how many documents, 0 if that is not known.
    * `skipped`: what was left out, cut or renamed, and how often ("bad", "empty", "words cut", ...).
    * `files`: those that `sha256` is of; None for texts in memory, or of a data set of the hub.
    * `text_bytes`: the size of all texts and labels; 0 where it is not known.
    * `more_documents`: what would make more documents of it where they are too few, in words.
    * `drawn`: which of the examples of its source it has, in words; empty for all of them.

    >>> from headscope.corpora import read
    >>> corpus = read("sample")
    >>> len(list(corpus)) == corpus.n_examples
    True
    """

    name: str
    sha256: str
    n_examples: int
    skipped: dict[str, int]
    again: Callable[[], Iterator[Example]]
    files: SourceFiles | None = None
    text_bytes: int = 0
    n_documents: int = 0
    more_documents: str = ""
    drawn: str = ""

    @property
    def has_few_documents(self) -> bool:
        """Whether it is known to have too few documents for an interval."""
        return 0 < self.n_documents < min(LEAST_DOCUMENTS, self.n_examples)

    @property
    def by_document(self) -> bool:
        """Whether whole documents are resampled: there are enough, and some have several examples."""
        return LEAST_DOCUMENTS <= self.n_documents < self.n_examples

    @cached_property
    def units(self) -> Sequence[int]:
        """The number of each example's unit of resampling: its document if that is known, else itself."""
        numbers = range(self.n_examples)
        if not self.by_document:
            return numbers
        documents = (example.document for example in self)
        return [number_of(name) if name else number for number, name in zip(numbers, documents, strict=True)]

    @property
    def resampled(self) -> str:
        """The units that are resampled for intervals, in words."""
        if self.by_document:
            return f"{self.n_documents:,} documents"
        if self.has_few_documents:
            number = "1 document" if self.n_documents == 1 else f"{self.n_documents} documents"
            return f"{number}, {TOO_FEW}{self.more_documents and f'; {self.more_documents}'}"
        return "examples" if self.n_documents == self.n_examples else "examples, taken as independent"

    @property
    def described(self) -> str:
        """Its name, and which of its examples were read."""
        return f"{self.name} ({self.drawn})" if self.drawn else self.name

    def refuse_changed(self) -> None:
        """Raise `HeadscopeError` if a file is no longer the one that was hashed."""
        if self.files:
            self.files.refuse_changed(f"corpus '{self.name}'")

    def __iter__(self) -> Iterator[Example]:
        return self.again()

    def __len__(self) -> int:
        return self.n_examples

    def since(self, number: int) -> Iterator[Example]:
        """The examples from a number on, counted from 0."""
        examples = self.again()
        if not isinstance(examples, Stream):
            return islice(examples, number, None)
        examples.go(number)
        return examples

    def __repr__(self) -> str:
        return f"Corpus('{self.name}', {self.n_examples} examples)"


def sample(corpus: Corpus, number: int, seed: int) -> Corpus:
    """This many examples of a corpus, drawn by the seed, in its order; they are held in memory."""
    chosen = np.random.default_rng(seed).permutation(corpus.n_examples)[:number]
    # No journal goes on from that of the first examples alone.
    sha256 = hashlib.sha256(f"{corpus.sha256} {len(chosen)} {seed}".encode()).hexdigest()
    return replace(part(corpus, chosen), sha256=sha256, files=corpus.files)


def part(corpus: Corpus, chosen: Int[np.ndarray, " example"], name: str = "") -> Corpus:
    """The examples with these numbers from 0, in the order of the corpus; `name` is that of the corpus by default."""
    numbers = set(chosen.tolist())
    kept = [example for number, example in enumerate(corpus) if number in numbers]
    documents = {number_of(example.document) for example in kept} - {number_of("")}
    again, number = partial(iter, kept), len(documents) if corpus.n_documents else 0  # of unknown ones, unknown
    return Corpus(name or corpus.name, corpus.sha256, len(kept), corpus.skipped, again, n_documents=number)


def joint_corpus(corpora: Sequence[Corpus]) -> Corpus:
    """One corpus for the provenance of several: their names, and the hash of their hashes."""
    sha256, name = joint_sha256([corpus.sha256 for corpus in corpora]), ", ".join(corpus.name for corpus in corpora)
    drawn = "; ".join(dict.fromkeys(corpus.drawn for corpus in corpora if corpus.drawn))
    return Corpus(name, sha256, sum(map(len, corpora)), {}, lambda: iter(()), drawn=drawn)


def joint_resampled(corpora: Sequence[Corpus]) -> str:
    """The units that are resampled, in words: once if all corpora have the same, else by corpus."""
    alike = dict.fromkeys(corpus.resampled for corpus in corpora)
    return "; ".join(alike if len(alike) == 1 else (f"{corpus.name}: {corpus.resampled}" for corpus in corpora))


def joint_sha256(hashes: Sequence[str]) -> str:
    """The hash of several hashes; of one, itself."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def classes_of(corpus: Corpus) -> tuple[str, ...]:
    """The classes that a corpus gives its words, in the order of the first of each.

    Raises `HeadscopeError` for more than 300.
    """
    if not any(sentence.classes for example in islice(corpus, 1) for sentence in example.sentences):
        return ()  # as of all its sentences
    names = dict.fromkeys(name for example in corpus for sentence in example.sentences for name in sentence.classes)
    if len(names) > MOST_CLASSES:
        few = f"at most {MOST_CLASSES} are compared; give several words the same class, or '_' for none"
        raise HeadscopeError(f"corpus '{corpus.name}' has {len(names):,} classes of words; {few}")
    return tuple(name for name in names if name)


def require_trees(corpus: Corpus, kinds: str = "CoNLL-U") -> None:
    """Raise `HeadscopeError` if no sentence of a corpus has a dependency tree; `kinds` are treebanks that have some."""
    if not any(sentence.heads for example in corpus for sentence in example.sentences):
        raise HeadscopeError(
            f"corpus '{corpus.name}' has no dependency trees; name a treebank ({kinds}), or parse it with --annotate"
        )

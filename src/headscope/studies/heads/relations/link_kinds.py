"""Kinds of links: those that the corpus carries, those of its trees, pairs of words, and copies across segments."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from headscope.corpora import Corpus
from headscope.encoding.word_tokens import copies, with_words
from headscope.errors import HeadscopeError
from headscope.linguistics.features import LINK, links
from headscope.linguistics.sentence import Example, Link, Sentence

LinkKind = Literal["annotated", "dependency", "pairs", "possessives", "same_word"]
# Of the four directed relations of section 4.5, two are the other two the other way round.
PAIRS = {LINK["verb_to_subject"]: "verb and subject", LINK["pronoun_to_noun"]: "pronoun and noun"}
CLITICS = ("'s", "’s", "'", "’")


def with_links(example: Example, kind: LinkKind) -> Example:
    """The example whose sentences have the links of a kind.

    Links of "same_word" go from each word of the first segment to its copies in the second (Kovaleva et al. 2019,
    section 5). They stand in the first sentence, with words that are numbered through all sentences.

    >>> pair = Example("1", (Sentence("It rained."),), (Sentence("It did."),))
    >>> with_links(pair, "same_word").first[0].links
    (Link(relation='same word', source=(0,), target=(3,), core=None),)
    """
    if kind == "same_word":
        example = with_words(example)
        across = tuple(Link("same word", (first,), (second,)) for first, second in copies(example))
        sentences = iter((across, *[()] * len(example.sentences)))
    else:
        sentences = iter([links_of(sentence, kind) for sentence in example.sentences])
    segments = [
        tuple(replace(sentence, links=next(sentences)) for sentence in segment)
        for segment in (example.first, example.second)
    ]
    return replace(example, first=segments[0], second=segments[1])


def parts_of(example: Example, sentence: Sentence) -> tuple[tuple[int, int], ...]:
    """The words [start, end) in which an end of the sentence's links stays: the sentence, or for links across segments
    each segment.
    """
    words = len(sentence.words)
    if all(word < words for link in sentence.links for word in (*link.source, *link.target)):
        return ((0, words),)
    first = sum(len(sentence.words) for sentence in example.first)
    return ((0, first), (first, example.n_words))


def links_of(sentence: Sentence, kind: LinkKind) -> tuple[Link, ...]:
    """The links within a sentence.

    * "annotated": those that come with it, such as from frame elements to the word that evokes the frame.
    * "dependency": from each word to its syntactic head; relations without their subtypes.
    * "pairs": verb and subject, pronoun and noun (Kovaleva et al. 2019, section 4.5).
    * "possessives": from what is owned to its owner, and to the clitic 's of the owner (Clark et al. 2019, section
      4.2); of relations of Universal Dependencies.

    >>> sentence = Sentence("She slept", ((0, 3), (4, 9)), heads=(2, 0), deprel=("nsubj:outer", "root"))
    >>> links_of(sentence, "dependency")
    (Link(relation='nsubj', source=(0,), target=(1,), core=None),)
    """
    return LINKS[kind](sentence)


def link_kind(corpus: Corpus, name: str | None = None) -> LinkKind:
    """The kind of links with this name; by default the annotated links of a corpus, else those of its trees.

    Raises `HeadscopeError` if a corpus has none, or the name is unknown.
    """
    if name is not None and name not in get_args(LinkKind):
        raise HeadscopeError(f"links '{name}' are unknown; use one of {', '.join(get_args(LinkKind))}")
    kinds: tuple[LinkKind, ...] = get_args(LinkKind)[:2] if name is None else (name,)  # type: ignore[assignment]
    for kind in kinds:
        if any(sentence.links for example in corpus for sentence in with_links(example, kind).sentences):
            return kind
    if name == "same_word":
        raise HeadscopeError(
            f"corpus '{corpus.name}' has no pair of segments that share a word; read pairs, such as those of MRPC"
        )
    raise HeadscopeError(
        f"corpus '{corpus.name}' has no {name or 'annotated or dependency'} links; name a treebank (CoNLL-U), "
        "FrameNet (--kind framenet) or links of your own (--kind links)"
    )


def of_frames(corpus: Corpus) -> bool:
    """True if the annotated links of a corpus are those of frame elements."""
    links = (link for example in corpus for sentence in example.sentences for link in sentence.links)
    return next(links).core is not None


def _dependencies(sentence: Sentence) -> tuple[Link, ...]:
    relations = sentence.deprel or ("dep",) * len(sentence.heads)
    return tuple(
        Link(relation.partition(":")[0], (word,), (head - 1,))
        for word, (head, relation) in enumerate(zip(sentence.heads, relations, strict=True))
        if head
    )


def _pairs(sentence: Sentence) -> tuple[Link, ...]:
    return tuple(
        Link(PAIRS[number], (source,), (target,)) for number, source, target in links(sentence) if number in PAIRS
    )


def _possessives(sentence: Sentence) -> tuple[Link, ...]:
    """Two links for each owner that has a clitic."""
    links: list[Link] = []
    for clitic, (form, owner) in enumerate(zip(sentence.forms, sentence.heads, strict=False)):
        if form in CLITICS and owner and sentence.deprel[clitic] == "case" and sentence.heads[owner - 1]:
            owned = sentence.heads[owner - 1] - 1
            if sentence.deprel[owner - 1] == "nmod:poss":
                links += [
                    Link("owned and owner", (owned,), (owner - 1,)),
                    Link("owned and clitic", (owned,), (clitic,)),
                ]
    return tuple(links)


LINKS: dict[str, Callable[[Sentence], tuple[Link, ...]]] = {
    "annotated": lambda sentence: sentence.links,
    "dependency": _dependencies,
    "pairs": _pairs,
    "possessives": _possessives,
}

"""Which links of a sentence are asked about: those that the corpus carries, those of its trees, or pairs of words."""

from collections.abc import Callable
from typing import Literal, get_args

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.features import LINK, links
from headscope.types import Link, Sentence

Which = Literal["annotated", "dependency", "pairs"]
# Of the four directed relations of section 4.5, two are the other two the other way round.
PAIRS = {LINK["verb_to_subject"]: "verb and subject", LINK["pronoun_to_noun"]: "pronoun and noun"}


def links_of(sentence: Sentence, which: Which) -> tuple[Link, ...]:
    """The links of a sentence.

    * "annotated": those that come with it, such as from frame elements to the word that evokes the frame.
    * "dependency": from each word to its syntactic head; relations without their subtypes.
    * "pairs": verb and subject, pronoun and noun (Kovaleva et al. 2019, section 4.5).

    >>> sentence = Sentence("She slept", ((0, 3), (4, 9)), heads=(2, 0), deprel=("nsubj:outer", "root"))
    >>> links_of(sentence, "dependency")
    (Link(relation='nsubj', source=(0,), target=(1,), core=None),)
    """
    return LINKS[which](sentence)


def told(corpus: Corpus, which: str | None = None) -> Which:
    """The links that are wanted; or those that a corpus has: annotated ones, else those of its trees.

    Raises `HeadscopeError` if a corpus has none, or the name is unknown.
    """
    if which is not None and which not in LINKS:
        raise HeadscopeError(f"links '{which}' are unknown; use one of {', '.join(LINKS)}")
    wanted: tuple[Which, ...] = get_args(Which)[:2] if which is None else (which,)  # type: ignore[assignment]
    for one in wanted:
        if any(links_of(sentence, one) for example in corpus for sentence in example.sentences):
            return one
    raise HeadscopeError(
        f"corpus '{corpus.name}' has no {which or 'annotated or dependency'} links; name a treebank (CoNLL-U), "
        "FrameNet (--kind framenet) or links of your own (--kind links)"
    )


def of_frames(corpus: Corpus) -> bool:
    """Whether annotated links of a corpus are those of frame elements."""
    every = (link for example in corpus for sentence in example.sentences for link in sentence.links)
    return next(every).core is not None


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


LINKS: dict[str, Callable[[Sentence], tuple[Link, ...]]] = {
    "annotated": lambda sentence: sentence.links,
    "dependency": _dependencies,
    "pairs": _pairs,
}

"""Kinds of links of a sentence: those that the corpus carries, those of its trees, or pairs of words."""

from collections.abc import Callable
from typing import Literal, get_args

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.features import LINK, links
from headscope.linguistics.sentence import Link, Sentence

LinkKind = Literal["annotated", "dependency", "pairs", "possessives"]
# Of the four directed relations of section 4.5, two are the other two the other way round.
PAIRS = {LINK["verb_to_subject"]: "verb and subject", LINK["pronoun_to_noun"]: "pronoun and noun"}
CLITICS = ("'s", "’s", "'", "’")


def links_of(sentence: Sentence, kind: LinkKind) -> tuple[Link, ...]:
    """The links of a sentence.

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
    if name is not None and name not in LINKS:
        raise HeadscopeError(f"links '{name}' are unknown; use one of {', '.join(LINKS)}")
    kinds: tuple[LinkKind, ...] = get_args(LinkKind)[:2] if name is None else (name,)  # type: ignore[assignment]
    for kind in kinds:
        if any(links_of(sentence, kind) for example in corpus for sentence in example.sentences):
            return kind
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
    found: list[Link] = []
    for clitic, (form, owner) in enumerate(zip(sentence.forms, sentence.heads, strict=False)):
        if form in CLITICS and owner and sentence.deprel[clitic] == "case" and sentence.heads[owner - 1]:
            owned = sentence.heads[owner - 1] - 1
            if sentence.deprel[owner - 1] == "nmod:poss":
                found += [
                    Link("owned and owner", (owned,), (owner - 1,)),
                    Link("owned and clitic", (owned,), (clitic,)),
                ]
    return tuple(found)


LINKS: dict[str, Callable[[Sentence], tuple[Link, ...]]] = {
    "annotated": lambda sentence: sentence.links,
    "dependency": _dependencies,
    "pairs": _pairs,
    "possessives": _possessives,
}

"""Syntactic heads of words, and phrases, from a bracketed parse; the parse may be one column, as in CoNLL-2012.

A phrase has the head of one of its parts, found by a short table after Collins (1999, appendix A); of a noun phrase it
is the last noun among its own words, else the first noun phrase in it, and never the possessive 's.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from headscope.corpora.problems import Bad
from headscope.storage.limits import DEEPEST

# Labels around a sentence that are no category.
ROOTS = ("", "TOP", "ROOT", "S1")
CATEGORY = re.compile(r"[-=|]")
LABEL = re.compile(r"\(([^()*]+)")
NOUNS = ("NN", "NNS", "NNP", "NNPS", "NX", "NML", "PRP", "WP", "EX")
NOMINAL = ("NP", "NX", "NML", "NAC", "WHNP", "QP")
# Which parts are looked for, one kind after the other, from the left.
FIRST = {
    "VP": ("VBD", "VBN", "VBZ", "VBP", "VB", "VBG", "MD", "TO", "VP"),
    "PP": ("IN", "TO", "VBG"),
    "SBAR": ("WHNP", "WHPP", "WHADVP", "WHADJP", "IN", "S", "SQ", "SINV"),
}
CLAUSE = ("VP", "S", "SQ", "SINV", "SBAR", "SBARQ", "NP")


@dataclass
class Phrase:
    """A phrase, or a word with its number, from 0."""

    label: str
    parts: list["Phrase"] = field(default_factory=list)
    word: int = -1


def tree_of(bits: list[str], tags: list[str], line: int) -> Phrase | None:
    """The parse of a sentence; None where it has none.

    * `bits`: the brackets around each word ("(NP*", "*", "*)"); `tags`: its part of speech.

    Raises `Bad` if a bracket has no partner.

    >>> heads_of(tree_of(["(TOP(S(NP*", "*)", "(VP*)", "*))"], ["DT", "NN", "VBD", "."], 1), 4)
    (2, 3, 0, 3)
    """
    if not any("(" in bit for bit in bits):
        return None
    root = Phrase("")
    opened = [root]
    for word, (bit, tag) in enumerate(zip(bits, tags, strict=True)):
        before, _, after = bit.partition("*")
        for label in LABEL.findall(before):
            opened[-1].parts.append(phrase := Phrase(label))
            opened.append(phrase)
        if len(opened) - 1 > DEEPEST:  # the first is no phrase
            raise Bad(line + word, f"the parse is nested more than {DEEPEST} levels deep")
        opened[-1].parts.append(Phrase(tag, word=word))
        if after.count(")") >= len(opened):
            raise Bad(line + word, f"the parse closes a phrase that is not open: '{bit}'")
        del opened[len(opened) - after.count(")") :]
    if opened[1:]:
        raise Bad(line, f"the parse leaves the phrase '{opened[-1].label}' open")
    return root


def heads_of(root: Phrase | None, words: int) -> tuple[int, ...]:
    """The head of each of `words` words of a parse, from 1, and 0 for the root; none without a parse."""
    if root is None:
        return ()
    linked = [0] * words
    _link(root, linked)
    return tuple(linked)


class Constituents(NamedTuple):
    """Phrases of a sentence, as fields of `Sentence`."""

    phrases: tuple[tuple[int, int], ...] | None = None
    phrase_labels: tuple[str, ...] = ()
    top: tuple[str, ...] = ()


def constituents_of(root: Phrase | None) -> Constituents:
    """Words [start, end) and category of each phrase of two or more words, the longest first; parts of the outermost.

    >>> house = Phrase("NP-SBJ", [Phrase("DT", word=0), Phrase("NN", word=1)])
    >>> constituents_of(Phrase("", [Phrase("S", [house, Phrase("VP", [Phrase("VBD", word=2)])])]))
    Constituents(phrases=((0, 3), (0, 2)), phrase_labels=('S', 'NP'), top=('NP', 'VP'))
    """
    if root is None:
        return Constituents()
    labels: dict[tuple[int, int], str] = {}
    _span(root, labels)
    spans = tuple(sorted(labels, key=lambda span: (span[0] - span[1], span)))
    while len(root.parts) == 1 and root.parts[0].parts:
        root = root.parts[0]
    return Constituents(spans, tuple(labels[span] for span in spans), tuple(map(_category, root.parts)))


def _span(phrase: Phrase, labels: dict[tuple[int, int], str]) -> tuple[int, int]:
    """The words of a phrase; `labels` gets those of it and its parts, the outermost label of the same words."""
    if not phrase.parts:
        return phrase.word, phrase.word + 1
    parts = [_span(part, labels) for part in phrase.parts]
    span = parts[0][0], parts[-1][1]
    if span[1] - span[0] > 1:
        labels[span] = labels.get(span, "") if phrase.label in ROOTS else _category(phrase)
    return span


def _category(phrase: Phrase) -> str:
    """The label without function tags and indices; tags such as -LRB- stay."""
    return CATEGORY.split(phrase.label, maxsplit=1)[0] or phrase.label


def _link(phrase: Phrase, linked: list[int]) -> int:
    """Hang the heads of all other parts on the head of the phrase, and return that."""
    if not phrase.parts:
        return phrase.word
    part_links = [_link(part, linked) for part in phrase.parts]
    head = part_links[_head_part(phrase)]
    for other in part_links:
        if other != head:
            linked[other] = head + 1
    return head


def _head_part(phrase: Phrase) -> int:
    labels = [part.label.partition("-")[0] for part in phrase.parts]
    if phrase.label.partition("-")[0] in NOMINAL:
        last = [index for index, label in enumerate(labels) if label in NOUNS]
        inner = [index for index, label in enumerate(labels) if label in NOMINAL]
        return last[-1] if last else inner[0] if inner else _last_word(labels)
    for wanted in FIRST.get(phrase.label.partition("-")[0], CLAUSE):
        if wanted in labels:
            return labels.index(wanted)
    return _last_word(labels)


def _last_word(labels: list[str]) -> int:
    """The last part that is neither punctuation nor 's."""
    words = [index for index, label in enumerate(labels) if label[:1].isalpha() and label != "POS"]
    return words[-1] if words else len(labels) - 1

"""What stands in the brackets of a treebank and is no word of the text: empty elements, notes and lemmas.

The Penn Treebank tags its empty elements `-NONE-`; the treebanks of Penn-Helsinki do not: `(NP-SBJ *T*-1)`, `(C 0)`.
"""

import re
from collections.abc import Sequence

from headscope.corpora.parsing.sentence_blocks import Block

TRACE = "-NONE-"
# Brackets of Penn-Helsinki that tell of a sentence and hold no words.
NOTES = ("ID", "CODE", "METADATA", "COMMENT", "VERSION")
NAMED_EMPTY = re.compile(r"\*(?:\?|T|ICH|RNR|EXP|PPA|PRO|NOT|U|OP|pro|con|exp|arb|op)\*(?:-\S+)?")
EMPTY = re.compile(r"0|\*(?:\S*\*)?(?:-\S+)?")
# Tags under which `0` and `*` are no words: phrases, complementisers and, of ellipses, verbs and conjunctions.
WITHOUT_WORDS = re.compile(
    r"(?:W?(?:N|P|D|Q|V|C|I|ADV|ADJ|NUM|CONJ)P|WH[A-Z]+P|C|P|TO|CONJ|VB|BE|DO|HV|MD|AX)\d?(?:[-=^].*)?"
)


def without_notes(tokens: Block) -> tuple[Block, int]:
    """The tokens outside of notes, and the number of notes."""
    outside, notes, depth = Block(), 0, 0
    for (line, token), (_, label) in zip(tokens, [*tokens[1:], (0, "")], strict=True):
        if depth or (token == "(" and label in NOTES):
            notes += not depth
            depth += {"(": 1, ")": -1}.get(token, 0)
        else:
            outside.append((line, token))
    return outside, notes


def is_empty(tag: str, form: str) -> bool:
    """Whether the form under a tag stands for no word of the text.

    >>> is_empty("-NONE-", "*"), is_empty("NP-SBJ", "*T*-1"), is_empty("C", "0"), is_empty("CD", "0")
    (True, True, True, False)
    """
    named = tag == TRACE or NAMED_EMPTY.fullmatch(form)
    return bool(named or (EMPTY.fullmatch(form) and WITHOUT_WORDS.fullmatch(tag)))


def without_lemmas(forms: Sequence[str]) -> list[str]:
    """The words without their lemmas, as IcePaHC joins them to each word; one word alone may just have a hyphen.

    >>> without_lemmas(["Hún-hún", "svaf-sofa", ".-."]), without_lemmas(["well-known", "men"])
    (['Hún', 'svaf', '.'], ['well-known', 'men'])
    """
    if len(forms) < 2 or not all("-" in form[1:-1] for form in forms):
        return list(forms)
    parts = [form.split("-") for form in forms]
    return ["-".join(part[: (len(part) + 1) // 2]) for part in parts]

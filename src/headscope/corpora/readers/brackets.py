"""Treebanks with bracketed phrases, as the Penn Treebank (.mrg) and Penn-Helsinki (.psd): a file, or a folder of them.

NLTK ships a tenth of the treebank ("treebank", in combined/). Words stand between blanks, with the brackets and
quotation marks that the treebank escapes. Left out and counted are empty elements (`-NONE-`; in Penn-Helsinki `0`,
`*T*-1`, `*pro*`), notes (`(ID ...)`, `(CODE ...)`) and the lemmas that IcePaHC joins to its words. Heads are made from
the phrases (`parsing.bracketed_phrases`), relations there are none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headscope.corpora.options import Options, existing, in_folder
from headscope.corpora.parsing.bracketed_phrases import Phrase, constituents_of, heads_of
from headscope.corpora.parsing.lines import lines
from headscope.corpora.parsing.sentence_blocks import Block, OpenBlock
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers.penn import unescaped, upos
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.limits import DEEPEST

SUFFIXES = (".mrg", ".ptb", ".psd")
TOKEN = re.compile(r"[()]|[^\s()]+")
LEFT_OUT = ("empty elements", "notes", "lemmas")
TRACE = "-NONE-"
# Brackets of Penn-Helsinki that tell of a sentence and hold no words.
NOTES = ("ID", "CODE", "METADATA", "COMMENT", "VERSION")
NAMED_EMPTY = re.compile(r"\*(?:\?|T|ICH|RNR|EXP|PPA|PRO|NOT|U|OP|pro|con|exp|arb|op)\*(?:-\S+)?")
EMPTY = re.compile(r"0|\*(?:\S*\*)?(?:-\S+)?")
# Tags under which `0` and `*` are no words: phrases, complementisers and, of ellipses, verbs and conjunctions.
WITHOUT_WORDS = re.compile(
    r"(?:W?(?:N|P|D|Q|V|C|I|ADV|ADJ|NUM|CONJ)P|WH[A-Z]+P|C|P|TO|CONJ|VB|BE|DO|HV|MD|AX)\d?(?:[-=^].*)?"
)


def locate(source: str, options: Options) -> list[str]:
    """The file itself, or all files of a folder that end in .mrg or .ptb, in the order of their names."""
    files = sorted(file for suffix in SUFFIXES for file in in_folder(source, f"*{suffix}"))
    return files or existing(source, options)


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence with its phrases and their heads; a file is a document."""
    name = Path(source).name
    for tokens in _trees(source):
        if isinstance(tokens, Bad):
            yield tokens
            continue
        line = tokens[0][0]
        try:
            root, words, left_out = _tree(tokens)
        except Bad as bad:
            yield bad
            continue
        yield from (Skipped(reason, left_out[reason]) for reason in LEFT_OUT if left_out[reason])
        if words:
            yield Example(f"{name}:{line}", (replace(_sentence(root, words), document=name),))
        else:
            yield Skipped("trees without words")


def _trees(source: str) -> Iterator[Block | Bad]:
    """The tokens of each outermost bracket, with the numbers of their lines; the last may be left open."""
    opened = OpenBlock()
    depth = 0
    for number, line in lines(source):
        for match in TOKEN.finditer(line):
            if bad := opened.add(number, token := match[0]):
                yield bad
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth <= 0:
                depth, tokens = 0, opened.take()
                if tokens:
                    yield tokens
    if tokens := opened.take():
        yield tokens


def _tree(tokens: Block) -> tuple[Phrase, list[tuple[str, str]], Counter[str]]:
    """The phrases of a sentence, the form and tag of each of its words, and counts of brackets that are no words."""
    tokens, notes = without_notes(tokens)
    opened, words, left_out = [Phrase("")], [], Counter({"notes": notes})
    form = ""
    before = ""
    for line, token in tokens:
        if token == "(":
            if form:
                raise Bad(line, f"a phrase stands beside the word '{form[:40]}' within a bracket")
            if len(opened) > DEEPEST:  # the first is no phrase
                raise Bad(line, f"the parse is nested more than {DEEPEST} levels deep")
            opened.append(Phrase(""))
        elif token == ")":
            if len(opened) == 1:
                raise Bad(line, "the bracket ')' closes a phrase that is not open")
            left_out["empty elements"] += not _close(opened, words, form)
            form = ""
        elif before == "(":
            opened[-1].label = token
        elif len(opened) == 1 or opened[-1].parts or form:
            raise Bad(line, f"'{token[:40]}' is neither a label nor the word of a bracket of its own, as in (NN house)")
        else:
            form = token
        before = token
    if len(opened) > 1:
        raise Bad(tokens[0][0], f"the parse leaves the phrase '{opened[-1].label[:40]}' open")
    forms = without_lemmas([form for form, _ in words])
    left_out["lemmas"] = sum(len(form) < len(word) for form, (word, _) in zip(forms, words, strict=True))
    return opened[0], [(unescaped(form), tag) for form, (_, tag) in zip(forms, words, strict=True)], left_out


def _close(opened: list[Phrase], words: list[tuple[str, str]], form: str) -> bool:
    """Hang the last phrase on the one around it, unless it has no words; False for an empty element."""
    phrase = opened.pop()
    if form and is_empty(phrase.label, form):
        return False
    if form:
        phrase.word = len(words)
        words.append((form, phrase.label))
    if phrase.parts or phrase.word >= 0:
        opened[-1].parts.append(phrase)
    return True


def _sentence(root: Phrase, words: list[tuple[str, str]]) -> Sentence:
    heads, tags = heads_of(root, len(words)), tuple(upos(tag) for _, tag in words)
    relations = ["punct" if tag == "PUNCT" else "dep" for tag in tags]
    text, spans = joined([form for form, _ in words])
    return Sentence(
        text,
        words=spans,
        upos=tags,
        heads=heads,
        deprel=tuple(relation if head else "root" for relation, head in zip(relations, heads, strict=True)),
        **constituents_of(root)._asdict(),
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

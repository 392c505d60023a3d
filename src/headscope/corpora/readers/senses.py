"""Texts with the senses of words, and their keys (NAME.data.xml beside NAME.gold.key.txt of Raganato et al. 2017)."""

from collections.abc import Iterator
from pathlib import Path

from headscope.corpora.options import Options, existing
from headscope.corpora.parsing.lines import lines
from headscope.corpora.parsing.words import joined
from headscope.corpora.parsing.xml import Node, elements
from headscope.corpora.problems import Bad, Skipped, refuse_long
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, LabelledSpan, Sentence

SUFFIXES: tuple[str, ...] = ()
DATA, KEYS = ".data.xml", ".gold.key.txt"
WORDS = ("wf", "instance")


def locate(source: str, options: Options) -> list[str]:
    """The file, and that of its keys, packed or not.

    Raises `HeadscopeError` if one is missing.
    """
    plain = source.removesuffix(".gz")
    if not plain.endswith(DATA):
        raise HeadscopeError(f"corpus '{source}': name the file that ends in '{DATA}', beside which '{KEYS}' lies")
    keys = plain.removesuffix(DATA) + KEYS
    packed = f"{keys}.gz"
    return [*existing(source, options), *existing(packed if Path(packed).is_file() else keys, options)]


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence with the senses of its instances; blanks stand between words. The second file has no examples.

    An instance without a key, and a key without its instance, is counted. A lemma is one with its part of speech.
    """
    if not source.removesuffix(".gz").endswith(DATA):
        return
    keys = _keys(locate(source, options)[1])
    try:
        for text in elements(source, "text"):
            document = f"{Path(source).name}:{text.required('id')}"
            for sentence in text.named("sentence"):
                yield from _example(sentence, document, keys)
    except Bad as bad:
        yield bad
    if keys:
        yield Skipped("keys without an instance", len(keys))


def _keys(file: str) -> dict[str, tuple[str, ...]]:
    """The keys of each instance.

    Raises `HeadscopeError` naming the line that has none, or an instance again.
    """
    keys = dict[str, tuple[str, ...]]()
    for number, line in lines(file):
        name, *senses = line.split() or [""]
        if name and (not senses or name in keys):
            said = f"instance '{name[:40]}' {'comes again' if senses else 'has no key'}"
            raise HeadscopeError(f"corpus '{file}', line {number}: {said}; write an instance and its keys a line")
        keys |= {name: tuple(dict.fromkeys(senses))} if name else {}
    return keys


def _example(sentence: Node, document: str, keys: dict[str, tuple[str, ...]]) -> Iterator[Example | Bad | Skipped]:
    """The sentence, whose keys are taken out."""
    words = [node for node in sentence.children if node.name in WORDS]
    if not words:
        yield Skipped("sentences without words")
        return
    forms = [" ".join(node.text.split()) for node in words]
    try:
        if empty := next((node for node, form in zip(words, forms, strict=True) if not form), None):
            raise Bad(empty.line, f"<{empty.name}> has no text")
        text, spans = joined(forms)
        refuse_long(text, sentence.line)
        labelled = list[LabelledSpan]()
        for index, node in enumerate(words):
            if node.name == "instance":
                lemma = f"{node.required('lemma').lower()}.{node.required('pos').lower()}"
                if senses := keys.pop(node.required("id"), ()):
                    labelled.append(LabelledSpan(((index, index + 1),), senses, lemma=lemma))
                else:
                    yield Skipped("instances without a key")
        name = sentence.required("id")
        yield Example(name, (Sentence(text, spans, document=document, labelled=tuple(labelled)),))
    except Bad as bad:
        yield bad

"""Tasks of texts made for them: words swapped or replaced in a sentence."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.tasks.task import WHOLE, ProbeCase, ProbingTask
from headscope.studies.layers.layers.texts import Part, Texts

Kind = tuple[str, str]
LEAST_WORDS = 5
REPLACED = ("NOUN", "VERB")


def order_shifted(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether two neighbouring words are swapped, in half of the sentences of 5 words or more; the first word stays."""
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        positions = [index for index in range(1, len(sentence.words) - 1) if _can_swap(sentence, index)]
        if len(sentence.words) < LEAST_WORDS or not positions:
            continue
        if random.random() < 0.5:
            yield ProbeCase(number, WHOLE, "as written")
        else:
            changed = Sentence(swapped(sentence, int(random.choice(positions))))
            yield ProbeCase(texts.add(changed, number), WHOLE, "shifted")


def odd_word(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether a noun or verb is replaced by another one, in half of the sentences of 5 words or more.

    The other has the same part of speech and the same morphology, and is the one of training sentences with the nearest
    frequency, of eight at random.
    """
    forms = _frequencies(texts)
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        positions = [index for index, tag in enumerate(sentence.upos) if tag in REPLACED and index]
        if len(sentence.words) < LEAST_WORDS or not positions:
            continue
        index = int(random.choice(positions))
        other = _other(sentence, index, forms, random)
        if other is None:
            continue
        if random.random() < 0.5:
            yield ProbeCase(number, WHOLE, "as written")
        else:
            start, end = sentence.words[index]
            changed = Sentence(sentence.text[:start] + other + sentence.text[end:])
            yield ProbeCase(texts.add(changed, number), WHOLE, "replaced")


def swapped(sentence: Sentence, index: int) -> str:
    """The text with two neighbouring words swapped; what stands between them stays.

    >>> swapped(Sentence("He ate it.", ((0, 2), (3, 6), (7, 9), (9, 10))), 1)
    'He it ate.'
    """
    (start, end), (begin, stop) = sentence.words[index : index + 2]
    text = sentence.text
    return text[:start] + text[begin:stop] + text[end:begin] + text[start:end] + text[stop:]


def _can_swap(sentence: Sentence, index: int) -> bool:
    """Whether two neighbours have characters of their own, stand apart, are no punctuation and differ."""
    first, second = sentence.words[index : index + 2]
    tags, forms = sentence.upos[index : index + 2], sentence.forms[index : index + 2]
    return bool(tags) and first[1] < second[0] and "PUNCT" not in tags and forms[0].lower() != forms[1].lower()


def _frequencies(texts: Texts) -> dict[Kind, list[tuple[str, int]]]:
    """The forms of nouns and verbs of training sentences by part of speech and morphology, with their frequencies."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for number in texts.order["train"]:
        sentence = texts.sentences[number]
        for index, tag in enumerate(sentence.upos):
            if tag in REPLACED:
                counts[(*_kind(sentence, index), sentence.forms[index])] += 1
    forms: dict[Kind, list[tuple[str, int]]] = defaultdict(list)
    for (tag, features, form), count in counts.items():
        forms[tag, features].append((form, count))
    return forms


def _kind(sentence: Sentence, index: int) -> Kind:
    return sentence.upos[index], sentence.morphology[index] if sentence.morphology else ""


def _other(
    sentence: Sentence, index: int, forms: dict[Kind, list[tuple[str, int]]], random: np.random.Generator
) -> str | None:
    others, own = forms.get(_kind(sentence, index), []), sentence.forms[index]
    count = next((count for form, count in others if form == own), 1)
    some = [others[int(at)] for at in random.integers(0, len(others), 8)] if others else []
    near = sorted((abs(np.log(other / count)), form) for form, other in some if form.lower() != own.lower())
    return near[0][1] if near else None


CONNEAU = "Conneau et al. 2018, section 2"
TASKS = (
    ProbingTask("order_shifted", "order of words shifted", "parts of speech", CONNEAU, order_shifted),
    ProbingTask("odd_word", "odd word out", "parts of speech", CONNEAU, odd_word),
)

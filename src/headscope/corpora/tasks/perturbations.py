"""Changed examples of a task: words shuffled, "not" added, a sentence emptied, both swapped, an argument removed."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from random import Random

from headscope.corpora import Corpus
from headscope.linguistics.sentence import Example, Sentence

Change = Callable[[Example, int], Example | None]
AUXILIARY = re.compile(
    r"\b(is|are|was|were|am|has|have|had|can|could|will|would|shall|should|may|might|must|does|do|did)\b(?! not)",
    re.IGNORECASE,
)
ENDS = ".?!"


def perturbed(corpus: Corpus, name: str, seed: int) -> tuple[Corpus, list[int]]:
    """The examples that can be changed, changed, and their numbers; `name`: a key of `PERTURBATIONS`."""
    made = [(number, PERTURBATIONS[name](example, seed)) for number, example in enumerate(corpus)]
    examples = [example for _, example in made if example is not None]
    changed = Corpus(f"{corpus.name}, {name}", corpus.sha256, len(examples), {}, partial(iter, examples))
    return changed, [number for number, example in made if example is not None]


def _shuffled(example: Example, seed: int) -> Example | None:
    """The words of each sentence in random order; the mark at its end stays."""

    def change(sentence: Sentence) -> Sentence:
        text = sentence.text.rstrip()
        mark = text[len(text.rstrip(ENDS)) :]
        words = text[: len(text) - len(mark)].split()
        Random(f"{seed} {example.id} {text}").shuffle(words)
        return Sentence(" ".join(words) + mark, document=sentence.document)

    first, second = (tuple(map(change, segment)) for segment in (example.first, example.second))
    shuffled = replace(example, first=first, second=second)
    texts = [[sentence.text for sentence in version.sentences] for version in (example, shuffled)]
    return shuffled if texts[0] != texts[1] else None


def _of_pair(example: Example, seed: int, *, change: Callable[[Example], Example]) -> Example | None:
    """A changed pair; None for a single segment."""
    return change(example) if example.second else None


def _negated(example: Example, seed: int) -> Example | None:
    """The last segment with "not" after its first auxiliary; None without one."""

    def change(sentence: Sentence) -> Sentence:
        return Sentence(AUXILIARY.sub(r"\1 not", sentence.text, count=1), document=sentence.document)

    return _in_last(example, change)


def _without_relation(example: Example, seed: int, *, relations: Iterable[str]) -> Example | None:
    """The last segment without the first word of these relations and what depends on it; None without a tree."""

    def change(sentence: Sentence) -> Sentence:
        labels = [label.partition(":")[0] for label in sentence.deprel]
        top = next((number for number, label in enumerate(labels, 1) if label in relations), None)
        if top is None or not sentence.heads:
            return sentence
        gone = {top}
        while more := {number for number, head in enumerate(sentence.heads, 1) if head in gone} - gone:
            gone |= more
        kept = [form for number, form in enumerate(sentence.forms, 1) if number not in gone]
        return Sentence(" ".join(kept), document=sentence.document)

    return _in_last(example, change)


def _in_last(example: Example, change: Callable[[Sentence], Sentence]) -> Example | None:
    """The example with the first sentence of its last segment that can be changed; None without one."""
    segment = example.second or example.first
    for index, sentence in enumerate(segment):
        changed = change(sentence)
        if changed.text != sentence.text:
            other = (*segment[:index], changed, *segment[index + 1 :])
            return replace(example, second=other) if example.second else replace(example, first=other)
    return None


PERTURBATIONS: dict[str, Change] = {
    "words shuffled": _shuffled,
    "negation added": _negated,
    "second sentence emptied": partial(_of_pair, change=lambda pair: replace(pair, second=())),
    "first sentence emptied": partial(_of_pair, change=lambda pair: replace(pair, first=pair.second, second=())),
    "sentences swapped": partial(_of_pair, change=lambda pair: replace(pair, first=pair.second, second=pair.first)),
    "subject removed": partial(_without_relation, relations=("nsubj", "csubj")),
    "object removed": partial(_without_relation, relations=("obj", "dobj")),
}

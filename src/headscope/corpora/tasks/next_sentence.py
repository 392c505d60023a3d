"""Whether a sentence follows another one in a text, for models that were trained on that (Devlin et al. 2019, 3.1)."""

from collections import defaultdict
from dataclasses import replace
from functools import partial
from random import Random

from headscope.corpora import Corpus
from headscope.corpora.suites.item import at_equal_distances
from headscope.corpora.tasks.task import Task
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence

NAME = "next-sentence"
# In the order of the outputs of transformers' heads.
LABELS = ("next", "other")


def next_sentence(corpus: Corpus, most: int | None = None) -> Task:
    """Neighbouring sentences (lines of a text), and in every second pair another one in the place of the second.

    The other one is of another document, or of the only one, two or more sentences away. Headings are left out; a limit
    takes pairs at equal distances. Raises `HeadscopeError` for a corpus with too few sentences.
    """
    documents = defaultdict[str, list[Sentence]](list)
    for example in corpus:
        for sentence in example.sentences:
            if sentence.text.strip() and not sentence.text.lstrip().startswith("="):
                documents[sentence.document].append(sentence)
    pairs = [(name, number) for name, texts in documents.items() for number in range(len(texts) - 1)]
    chosen = range(len(pairs)) if most is None else at_equal_distances(range(len(pairs)), most)
    examples = [_example(documents, *pairs[index], number) for number, index in enumerate(chosen)]
    if len({example.label for example in examples}) < 2 or any(not example.second for example in examples):
        raise HeadscopeError(
            f"corpus '{corpus.name}' has {len(pairs)} pairs of neighbouring sentences; name a longer text, a line a "
            "sentence or paragraph"
        )
    named = len(documents.keys() - {""})
    dev = replace(corpus, n_examples=len(examples), again=partial(iter, examples), n_documents=named)
    return Task(name=NAME, kind="classification", labels=LABELS, metrics=("accuracy",), dev=dev)


def _example(documents: dict[str, list[Sentence]], document: str, index: int, number: int) -> Example:
    """A pair of neighbours, or with an odd number of a sentence and another one."""
    texts = documents[document]
    first, second = texts[index], texts[index + 1]
    if number % 2:
        away = [name for name in documents if name != document]
        random = Random(f"{document} {index}")
        far = documents[random.choice(away)] if away else [*texts[: max(0, index - 1)], *texts[index + 3 :]]
        others = [sentence for sentence in far if sentence.text != second.text]
        if not others:
            return Example(f"{number + 1}", (first,))
        second = random.choice(others)
    return Example(f"{number + 1}:{document}", (first,), (second,), LABELS[number % 2])

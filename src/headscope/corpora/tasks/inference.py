"""Inference over chains of comparisons, trained on short ones and scored on longer ones too, the same in every run.

After a question of Rogers et al. 2020 (section 9.2). A text puts seven persons in order by six comparisons, which it
lists in random order. Asked are two of the five in the middle, each of whom is the first of one comparison and the
second of another: no place of a name tells the answer. Each pair of persons is asked in both orders.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from itertools import pairwise
from random import Random

from headscope.corpora import Corpus
from headscope.corpora.suites.readers.generated import COMPARISONS, PEOPLE
from headscope.corpora.tasks.task import Task
from headscope.linguistics.sentence import Example, Sentence

NAME, LABELS = "inference", ("no", "yes")
PERSONS = 7
# Comparisons that an answer takes, and texts of each number of them.
TRAINED, SCORED = (1, 2), (1, 2, 3, 4)
TRAIN, DEV = 1000, 100


def inference(texts: int | None = None) -> Task:
    """The task; `texts`: of each number of steps in each split.

    >>> task = inference(2)
    >>> len(task.training()), len(task.dev), sorted(set(task.depths)), task.trained_depth
    (8, 16, [1, 2, 3, 4], 2)
    """
    train, dev = _corpus("train", TRAINED, texts or TRAIN), _corpus("dev", SCORED, texts or DEV)
    depths = tuple(int(example.id.split("-")[1]) for example in dev)
    return Task(
        name=NAME, kind="classification", labels=LABELS, metrics=("accuracy",), dev=dev, train=train, depths=depths,
        trained_depth=max(TRAINED),
    )  # fmt: skip


def _corpus(split: str, depths: Sequence[int], texts: int) -> Corpus:
    examples = [example for number in range(texts) for steps in depths for example in _questions(split, steps, number)]
    name = f"{NAME} ({split})"
    digest = sha256("\n".join(f"{example.first} {example.second}" for example in examples).encode()).hexdigest()
    return Corpus(name, digest, len(examples), {}, partial(iter, examples), n_documents=texts * len(depths))


def _questions(split: str, steps: int, number: int) -> list[Example]:
    """A text with both questions about two persons this many comparisons apart."""
    random, document = Random(f"{split} {steps} {number}"), f"{split}-{steps}-{number}"
    word, _ = COMPARISONS[number % len(COMPARISONS)]
    persons = random.sample(PEOPLE, PERSONS)
    lines = [_compared(*pair, word, document) for pair in pairwise(persons)]
    context, at = tuple(random.sample(lines, len(lines))), random.randint(1, PERSONS - 2 - steps)
    first, last = persons[at], persons[at + steps]
    return [
        Example(f"{document}-{label}", context, (_compared(*pair, word, document),), label)
        for label, pair in (("yes", (first, last)), ("no", (last, first)))
    ]


def _compared(first: str, second: str, word: str, document: str) -> Sentence:
    return Sentence(f"{first} is {word} than {second}.", document=document)

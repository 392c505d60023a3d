"""Small tasks that a tiny model can learn, and a folder with such a model.

>>> [task.kind for task in (birds(), counts())]
['classification', 'regression']
"""

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example, Sentence
from support.planted_task import planted_task
from support.tiny import WORDS, save_tiny, tiny_bert


def birds(n_dev: int = 24, n_train: int = 40) -> Task:
    """Is there a bird in the sentence?"""
    return planted_task(n_dev, n_train)


def counts(n_dev: int = 20, n_train: int = 30) -> Task:
    """How many cats are there in the sentence?"""
    dev, train = _cats("dev", n_dev, seed=1), _cats("train", n_train, seed=2)
    return Task(name="cats", kind="regression", metrics=("pearson", "spearman"), dev=dev, train=train)


def _cats(name: str, size: int, seed: int) -> Corpus:
    random, others = Random(seed), [word for word in WORDS if word.isalpha() and word != "cat"]
    found = []
    for number in range(size):
        cats = number % 4
        words = ["cat"] * cats + random.choices(others, k=random.randint(1, 8))
        random.shuffle(words)
        found.append(Example(f"{name}:{number}", (Sentence(" ".join(words)),), label=float(cats)))
    return Corpus(name, f"{name}-cats-{size}", size, {}, partial(iter, found))


def tiny_folder(folder: Path, **config: Any) -> Path:
    """A tiny encoder as it is stored; `config` overrides its settings."""
    return save_tiny(folder, tiny_bert(**config))

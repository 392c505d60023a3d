"""Simple models of a task without attention: what they know is no merit of the encoder.

Bags of words and of pairs of words, one sentence of the pair alone (Gururangan et al. 2018), and the mean of the
model's embeddings. Logistic regression, of scores ridge regression; the penalty is chosen on a tenth of the training
examples.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from headscope.corpora import Corpus
from headscope.corpora.parsing.words import words
from headscope.corpora.tasks import Task, score
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model

Features = Callable[[Corpus, Corpus], tuple[Any, Any]]
Texts = tuple[str, ...]
# Inverse penalties, the strongest first; of equal ones the first.
STRENGTHS = (0.01, 0.1, 1.0)
HELD_OUT = 10
STEPS = 1000
# The log-probability of a class that no training example has, and the lowest of any.
UNSEEN = -50.0


def baseline_outputs(task: Task, model: Model) -> dict[str, Float[np.ndarray, "example output"]]:
    """The outputs of each simple model for the dev examples, as those of a trained one; none without a train split.

    * `model`: the pre-trained model, whose embeddings of tokens are read.
    """
    if task.train is None or task.kind not in ("classification", "regression"):
        return {}
    targets = task.targets(task.train)
    return {
        name: _outputs(task, targets, *features(task.train, task.dev))
        for name, features in _features(model, _is_paired(task.dev)).items()
    }


def _features(model: Model, paired: bool) -> dict[str, Features]:
    """How each simple model reads the examples of train and dev."""
    features: dict[str, Features] = {"bag of words": _counts(words_of)}
    if paired:
        features |= {
            "pairs of words": _counts(pairs_of),
            "first sentence": _counts(lambda texts: words_of(texts[:1])),
            "second sentence": _counts(lambda texts: words_of(texts[1:])),
        }
    return features | {"mean embeddings": _embedded(model)}


def words_of(texts: Texts) -> list[str]:
    """The words of a text in lower case, with the number of their sentence.

    >>> words_of(("A cat.", "It sat"))
    ['1 a', '1 cat', '1 .', '2 it', '2 sat']
    """
    return [f"{number} {word}" for number, text in enumerate(texts, 1) for word in _words(text)]


def pairs_of(texts: Texts) -> list[str]:
    """The words, and all pairs of a word of the first sentence and one of the second.

    >>> pairs_of(("a cat", "sat"))
    ['1 a', '1 cat', '2 sat', 'a sat', 'cat sat']
    """
    first, second = (sorted(set(_words(text))) for text in (texts[0], " ".join(texts[1:])))
    return words_of(texts) + [f"{left} {right}" for left, right in product(first, second)]


def _words(text: str) -> list[str]:
    lower = text.lower()
    return [lower[start:end] for start, end in words(lower)]


def _texts(example: Example) -> Texts:
    return tuple(map(segment_text, example.segments))


def _is_paired(corpus: Corpus) -> bool:
    return any(len(example.segments) > 1 for example in corpus)


def _counts(read: Callable[[Texts], Iterable[str]]) -> Features:
    """Which words occur, of those that two training examples have."""

    def features(train: Corpus, dev: Corpus) -> tuple[Any, Any]:
        # the empty word, which all have, makes a vocabulary of none one of one
        spelt: Any = lambda texts: ["", *read(texts)]  # noqa: E731 (scikit-learn's stubs take names alone)
        counter = CountVectorizer(analyzer=spelt, binary=True, min_df=min(2, train.n_examples))
        return counter.fit_transform(map(_texts, train)), counter.transform(map(_texts, dev))

    return features


def _embedded(model: Model) -> Features:
    """The mean embedding of the tokens of each sentence; of a pair also difference and product."""
    table: Any = model.network.get_input_embeddings()
    weights: Tensor = table.weight
    vectors_of_pieces = weights.detach().float().cpu().numpy()

    def mean(text: str) -> np.ndarray:
        ids = model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return vectors_of_pieces[ids].mean(0) if ids else np.zeros(vectors_of_pieces.shape[1], vectors_of_pieces.dtype)

    def vectors(corpus: Corpus, paired: bool) -> np.ndarray:
        rows = []
        for texts in map(_texts, corpus):
            first, second = mean(texts[0]), mean(" ".join(texts[1:]))
            rows.append(np.concatenate([first, second, abs(first - second), first * second]) if paired else first)
        return np.array(rows)

    def features(train: Corpus, dev: Corpus) -> tuple[Any, Any]:
        paired = _is_paired(dev)
        scaler = StandardScaler()
        return scaler.fit_transform(vectors(train, paired)), scaler.transform(vectors(dev, paired))

    return features


def _outputs(
    task: Task, targets: Float[np.ndarray, " example"], train: csr_matrix | np.ndarray, dev: csr_matrix | np.ndarray
) -> Float[np.ndarray, "example output"]:
    """The outputs for dev of the model with the strength that is best on every tenth training example."""
    chosen = np.arange(len(targets)) % HELD_OUT == HELD_OUT - 1
    strength = STRENGTHS[0]
    if chosen.any():
        rated = [
            float(
                score(
                    task.metrics[0],
                    _fit(task, strength, train[~chosen], targets[~chosen], train[chosen]),
                    targets[chosen],
                )
            )
            for strength in STRENGTHS
        ]
        strength = STRENGTHS[int(np.argmax(rated))]
    return _fit(task, strength, train, targets, dev)


def _fit(task: Task, strength: float, train: Any, targets: Float[np.ndarray, " example"], dev: Any) -> np.ndarray:
    """Fit on the training examples, and predict: log-probabilities of all classes, or scores."""
    if task.kind == "regression":
        return Ridge(alpha=1 / strength).fit(train, targets).predict(dev)[:, None]
    present: Sequence[int] = np.unique(targets).astype(int).tolist()
    outputs = np.full((dev.shape[0], len(task.labels)), UNSEEN)
    if len(present) == 1:
        outputs[:, present] = 0.0
        return outputs
    model = LogisticRegression(C=strength, max_iter=STEPS).fit(train, targets)
    outputs[:, present] = np.log(np.maximum(model.predict_proba(dev), np.exp(UNSEEN)))
    return outputs

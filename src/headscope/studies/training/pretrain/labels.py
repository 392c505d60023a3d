"""The label of a labelled text in the place of the segment (Wu et al. 2019b, section 3.3)."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from headscope.corpora import Corpus
from headscope.corpora.tasks.labels import class_name, no_classes
from headscope.errors import HeadscopeError

# More labels than this are scores or names.
MOST_LABELS = 100


def label_numbers(corpus: Corpus) -> dict[str, int]:
    """The number of each label of a corpus, in the order of their names.

    Raises `HeadscopeError` if an example has none, or there are fewer than two, or more than `MOST_LABELS`.
    """
    counts = Counter(class_name(example.label) for example in corpus)
    missing = no_classes(counts, scores=False)
    names = sorted(counts.keys() - missing)
    remedy = "use a table with a column of labels, such as SST-2's train.tsv"
    if not 1 < len(names) <= MOST_LABELS:
        raise HeadscopeError(
            f"corpus '{corpus.name}' has {len(names):,} labels, way 'labels' needs 2 to {MOST_LABELS}; {remedy}"
        )
    if without := sum(counts[name] for name in missing):
        raise HeadscopeError(
            f"corpus '{corpus.name}': {without:,} of {counts.total():,} examples have no label, "
            "which way 'labels' needs; leave them out of the file"
        )
    return {name: number for number, name in enumerate(names)}


def add_label_embeddings(network: PreTrainedModel, labels: Mapping[str, int]) -> None:
    """Give a BERT an embedding for each label, in the place of those of two segments.

    With two labels it is as it was.
    """
    if len(labels) != network.config.type_vocab_size:
        table = nn.Embedding(len(labels), network.config.hidden_size)
        with torch.no_grad():
            table.weight.normal_(std=network.config.initializer_range)
        network.base_model.set_submodule("embeddings.token_type_embeddings", table)
        network.config.type_vocab_size = len(labels)


def by_label(labels: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The label of each token of [CLS] first [SEP] second [SEP], by those of the pieces: of special tokens the nearest.

    >>> by_label((np.array([0, 0, 1]), np.array([2, 2]))).tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """
    first, second = labels
    return np.concatenate([first[:1], first, first[-1:], second, second[-1:]])

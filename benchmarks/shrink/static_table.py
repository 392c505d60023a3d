"""A static table (as model2vec): each piece has the mean of its states in the model, and a linear map reads means."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from headscope import Model, Settings
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example
from headscope.passes.batches import batches
from headscope.studies.size.shrink.texts import encode

# Pieces that no text of train has are read alone, so many at once.
AT_ONCE = 512


@dataclass(frozen=True)
class StaticTable:
    """The vectors of all pieces, [piece, width], and the linear map from features of an input to outputs."""

    vectors: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    special: frozenset[int]

    @property
    def megabytes(self) -> float:
        """Size of all numbers."""
        return sum(numbers.nbytes for numbers in (self.vectors, self.weight, self.bias)) / 1e6

    def outputs(self, model: Model, examples: Sequence[Example]) -> np.ndarray:
        """The outputs for some examples, [example, output]."""
        return self.of(features(self.vectors, encode(model, examples), self.special))

    def of(self, inputs: np.ndarray) -> np.ndarray:
        """The outputs for features."""
        return inputs @ self.weight.T + self.bias

    def save(self, path: Path) -> Path:
        """Write the numbers."""
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, vectors=self.vectors, weight=self.weight, bias=self.bias)
        return path


def static_table(model: Model, task: Task, settings: Settings) -> StaticTable:
    """The table of a model, and a map that is fitted to the labels of train."""
    examples = tuple(task.training())
    inputs, special = encode(model, examples), frozenset(model.tokenizer.all_special_ids)
    vectors = token_vectors(model, inputs, settings)
    read, targets = features(vectors, inputs, special), task.targets(task.training())
    scale = StandardScaler().fit(read)
    fitted: Any
    if task.kind == "regression":
        fitted = Ridge(alpha=float(len(read))).fit(scale.transform(read), targets)
    else:
        fitted = LogisticRegression(C=0.1, max_iter=500).fit(scale.transform(read), targets)
    weight: Any = np.atleast_2d(fitted.coef_)
    bias = np.atleast_1d(fitted.intercept_)
    if task.kind == "classification" and len(weight) == 1:  # of two classes: 0 for the first
        weight, bias = np.concatenate([0 * weight, weight]), np.append(0, bias)
    weight = weight / scale.scale_
    numbers = vectors, weight, bias - weight @ scale.mean_
    table, weight, bias = (part.astype(np.float32) for part in numbers)
    return StaticTable(table, weight, bias, special)


def token_vectors(model: Model, inputs: Sequence[Encoded], settings: Settings) -> np.ndarray:
    """The mean last state of each piece in some inputs; of others that of the piece alone."""
    network: Any = model.network.base_model
    size = network.config.vocab_size
    sums, counts = torch.zeros(size, network.config.hidden_size, dtype=torch.float64), torch.zeros(size)
    with torch.inference_mode():
        for batch in batches(model, inputs, settings):
            ids, states = batch.inputs["input_ids"][batch.real], network(**batch.inputs)[0][batch.real]
            sums.index_add_(0, ids, states.double())
            counts.index_add_(0, ids, torch.ones(len(ids)))
        for alone in torch.nonzero(counts == 0).flatten().split(AT_ONCE):
            start, end = (torch.full_like(alone, mark) for mark in _marks(model))
            ids = torch.stack([start, alone, end], dim=1)
            sums[alone] = network(input_ids=ids, attention_mask=torch.ones_like(ids))[0][:, 1].double()
            counts[alone] = 1
    return (sums / counts[:, None]).float().numpy()


def _marks(model: Model) -> tuple[int, int]:
    tokenizer: Any = model.tokenizer
    return tokenizer.cls_token_id, tokenizer.sep_token_id


def features(vectors: np.ndarray, inputs: Sequence[Encoded], special: frozenset[int]) -> np.ndarray:
    """The mean vector of each text; of a pair both, their distances and their products."""
    rows = [_features(vectors, encoded, special) for encoded in inputs]
    return np.stack(rows)


def _features(vectors: np.ndarray, encoded: Encoded, special: frozenset[int]) -> np.ndarray:
    ids = encoded.inputs["input_ids"]
    kinds = encoded.inputs.get("token_type_ids", np.zeros_like(ids))
    ordinary = ~np.isin(ids, list(special))
    first, second = (ids[ordinary & (kinds == kind)] for kind in (0, 1))
    if not kinds.any():
        return _mean(vectors, first)
    one, other = _mean(vectors, first), _mean(vectors, second)
    return np.concatenate([one, other, abs(one - other), one * other])


def _mean(vectors: np.ndarray, ids: np.ndarray) -> np.ndarray:
    return vectors[ids].mean(0) if len(ids) else np.zeros(vectors.shape[1], vectors.dtype)

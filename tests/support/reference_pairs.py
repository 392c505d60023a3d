"""Comparisons once more, read naively off their definitions: one example, one head, one row at a time."""

from collections.abc import Iterable

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headscope.linguistics.sentence import Example
from support.reference_tokens import read_example, texts_of


def compared(
    networks: tuple[PreTrainedModel, PreTrainedModel],
    tokenizers: tuple[PreTrainedTokenizerBase, PreTrainedTokenizerBase],
    examples: Iterable[Example],
) -> dict[str, np.ndarray]:
    """The means over examples of the cosine and the Jensen-Shannon divergence, each [layer, head]."""
    found: dict[str, list[np.ndarray]] = {"similarity": [], "js_divergence": []}
    for example in examples:
        one, other = (read_example(*reader, example).maps for reader in zip(networks, tokenizers, strict=True))
        found["similarity"].append(_by_head(_cosine, one, other))
        found["js_divergence"].append(_by_head(_divergence, one, other))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def padded_cosine(
    networks: tuple[PreTrainedModel, PreTrainedModel],
    tokenizer: PreTrainedTokenizerBase,
    examples: Iterable[Example],
    length: int,
) -> np.ndarray:
    """The mean cosine [layer, head] of whole maps of inputs padded by hand, as the released notebook has them."""
    found = []
    for example in examples:
        first, second = texts_of(example)
        encoding = tokenizer(first, second, padding="max_length", max_length=length, return_tensors="pt", verbose=False)
        with torch.inference_mode():
            maps = [torch.stack(network(**encoding, output_attentions=True).attentions)[:, 0] for network in networks]
        one, other = (attention.double().numpy() for attention in maps)
        assert one.shape[-2:] == (length, length)
        found.append(_by_head(_cosine, one, other))
    return np.mean(found, axis=0)


def _by_head(statistic, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    layers, heads = one.shape[:2]
    return np.array([[statistic(one[k, h], other[k, h]) for h in range(heads)] for k in range(layers)])


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.flatten(), other.flatten()
    return float(one @ other / np.sqrt(one @ one) / np.sqrt(other @ other))


def _divergence(one: np.ndarray, other: np.ndarray) -> float:
    rows = []
    for p, q in zip(one, other, strict=True):
        middle = (p + q) / 2
        rows.append((_relative(p, middle) + _relative(q, middle)) / 2)
    return float(np.mean(rows))


def _relative(p: np.ndarray, q: np.ndarray) -> float:
    """The Kullback-Leibler divergence."""
    return float(sum(a * np.log(a / b) for a, b in zip(p, q, strict=True) if a > 0))

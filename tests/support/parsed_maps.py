"""Attention to sentences made by hand, as parsers read it; and what parsers make of it, in loops."""

from collections.abc import Sequence
from math import exp, log

import numpy as np
import torch
from torch import nn

from headscope.encoding.block_parts import SPECIAL
from headscope.encoding.parsed_sentences import Parsed
from headscope.studies.heads.probe.observer import Treebank
from headscope.studies.heads.probe.word_vectors import NONE, Lexicon


def sentence(heads: Sequence[int], relations: Sequence[str] = (), number: int = 0, unit: int | None = None) -> Parsed:
    """A sentence of the words w1, w2, ...; a relation is "root", or "dep" where none is given."""
    kinds = relations or ["root" if head == 0 else "dep" for head in heads]
    words = range(1, len(heads) + 1)
    return Parsed(
        number,
        0,
        number if unit is None else unit,
        np.array(words) - 1,
        tuple(f"w{word}" for word in words),
        np.array(heads),
        np.array(kinds),
        tuple((word,) for word in words),
    )


def treebank_of(sentences: Sequence[Parsed], heads: int, seed: int = 0) -> Treebank:
    """Sentences with random attention, in half precision; rows sum to 1."""
    random = np.random.default_rng(seed)
    maps = []
    for sentence in sentences:
        scores = np.exp(2 * random.normal(size=(len(sentence) + SPECIAL, len(sentence) + SPECIAL, heads)))
        maps.append(torch.from_numpy((scores / scores.sum(1, keepdims=True)).astype(np.float16)))
    return Treebank(sentences, maps)


def lexicon_of(numbers: int, words: int = 12, seed: int = 0) -> Lexicon:
    """A random vector for each of w1, w2, ...; the first row is 0."""
    table = torch.randn(words + 1, numbers, generator=torch.Generator().manual_seed(seed))
    table[NONE] = 0
    return Lexicon(table, lambda sentence: np.array([int(form[1:]) for form in sentence.forms]), 1.0)


def randomised(parser: nn.Module, seed: int = 1) -> nn.Module:
    """The parser with random parameters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in parser.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return parser


def attention_score(weights: np.ndarray, between: np.ndarray, dependent: int, head: int) -> float:
    """sum_k w_k a_ij + u_k a_ji, number by number; tokens, not words."""
    heads = between.shape[-1]
    total = 0.0
    for k in range(heads):
        total += float(weights[k]) * float(between[dependent, head, k])
        total += float(weights[heads + k]) * float(between[head, dependent, k])
    return total


def words_score(
    parameters: dict[str, np.ndarray], between: np.ndarray, vectors: np.ndarray, dependent: int, head: int
) -> float:
    """The same where a weight is W_k . (v_i, v_j) + b_k, of the concatenated vectors."""
    pair = np.concatenate([vectors[dependent], vectors[head]])
    matrix = np.concatenate([parameters["dependent.weight"], parameters["head.weight"]], axis=1)
    weights = [float(row @ pair) + float(bias) for row, bias in zip(matrix, parameters["dependent.bias"], strict=True)]
    return attention_score(np.array(weights), between, dependent, head)


def naive_loss(scores: Sequence[Sequence[float]], heads: Sequence[int]) -> float:
    """-log of the softmax of the syntactic head among ROOT and all words but the dependent, summed over words."""
    total = 0.0
    for word, (row, head) in enumerate(zip(scores, heads, strict=True), 1):
        if head >= 0:
            total -= log(exp(row[head]) / sum(exp(score) for number, score in enumerate(row) if number != word))
    return total

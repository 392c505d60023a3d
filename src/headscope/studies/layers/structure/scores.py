"""Scores of probes on the sentences of a treebank (Hewitt and Manning 2019, section 3.2), and trees for a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from headscope.encoding.parsed_sentences import ROOT
from headscope.linguistics.spanning_tree import undirected_trees
from headscope.statistics import rank_correlation
from headscope.statistics.bootstrap import tally
from headscope.statistics.columns import Columns
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.layers.structure import train
from headscope.studies.layers.structure.train import Maps
from headscope.studies.layers.structure.treebank_states import TreebankStates, padded, scored

# Correlations are means over sentences of equal length, then over these lengths.
LENGTHS = np.arange(5, 51)
CHUNK = 32  # sentences


@dataclass(frozen=True)
class SentenceScores(Columns):
    """Scores of each sentence in each space; the last space is the linear order of the words.

    * `length`: in words; `edges`: of the gold tree, without punctuation; `has_root`: whether its root is scored.
    * `right`: number of edges of the predicted tree that are gold; `root`: whether the shallowest word is the root.
    * `distance_spearman`, `norm_spearman`: rank correlation with gold distances (mean over words) and depths.
    """

    length: Int[np.ndarray, " sentence"]
    edges: Int[np.ndarray, " sentence"]
    has_root: Bool[np.ndarray, " sentence"]
    right: Float[np.ndarray, "sentence space"]
    root: Float[np.ndarray, "sentence space"]
    distance_spearman: Float[np.ndarray, "sentence space"]
    norm_spearman: Float[np.ndarray, "sentence space"]


def score(treebank: TreebankStates, maps: Mapping[str, Maps], device: torch.device) -> SentenceScores:
    """The scores of all sentences of a treebank, in its order; `maps` are those of each kind of probe."""
    rows: list[tuple] = [()] * len(treebank)
    for numbers, apart, deep in _predictions(treebank, maps, device):
        for row, number in enumerate(numbers):
            words = len(treebank.sentences[number])
            rows[number] = _row(treebank, number, apart[:, row, :words, :words], deep[:, row, :words])
    return SentenceScores(*map(np.array, zip(*rows, strict=True)))


def predicted_edges(
    treebank: TreebankStates, number: int, maps: Mapping[str, Maps], space: int, device: torch.device
) -> list[tuple[int, int]]:
    """The edges that the distance probe of one space predicts for a sentence, by the places of the words."""
    states = treebank.arrays[number][space : space + 1, None].float().to(device)
    with torch.inference_mode():
        apart = train.distances(train.project(states, maps["distance"][space : space + 1]))
    return sorted(spanning_edges(apart[:, 0].cpu().numpy(), scored(treebank.sentences[number]))[0])


def spanning_edges(
    distances: Float[np.ndarray, "space word other"], kept: Bool[np.ndarray, " word"]
) -> list[set[tuple[int, int]]]:
    """The edges of the minimum spanning tree of each space over some of the words.

    >>> [sorted(edges) for edges in spanning_edges(np.array([[[0, 1, 2], [1, 0, 9], [2, 9, 0]]]), np.full(3, True))]
    [[(0, 1), (0, 2)]]
    """
    words = np.flatnonzero(kept)
    if not len(words):
        return [set() for _ in distances]
    neighbours = undirected_trees(-distances[:, words[:, None], words])[:, 1:]
    others = words[1:].tolist()
    return [{(min(pair), max(pair)) for pair in zip(others, near, strict=True)} for near in words[neighbours].tolist()]


def gold_edges(treebank: TreebankStates, number: int) -> set[tuple[int, int]]:
    """The edges of the gold tree of a sentence, over the words that are no punctuation."""
    distances = treebank.gold.distances[number].numpy().astype(float)
    return spanning_edges(distances[None], scored(treebank.sentences[number]))[0]


def scores(sentences: SentenceScores, draws: Float[np.ndarray, "resample sentence"]) -> dict[str, Score]:
    """The four scores of a treebank by name."""
    rooted = sentences.has_root.astype(np.int64)
    return {
        "uuas": _mean(sentences.right, sentences.edges, draws),
        "root_accuracy": _mean(sentences.root, rooted, draws),
        "distance_spearman": _by_length(sentences.distance_spearman, sentences.length, draws),
        "norm_spearman": _by_length(sentences.norm_spearman, sentences.length, draws),
    }


def _mean(values: np.ndarray, cases: np.ndarray, draws: np.ndarray) -> Score:
    sums = tally(values, cases, draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = sums.resampled_total / sums.resampled_count[:, None]
        return Score(sums.mean, resampled, int(sums.count), float(sums.units), of_answers=True)


def _by_length(values: np.ndarray, lengths: np.ndarray, draws: np.ndarray) -> Score:
    """The mean over lengths of the means over the sentences of each length; lengths that have none do not count."""
    totals, resampled, there, drawn = [], [], [], []
    for length in LENGTHS[np.isin(LENGTHS, lengths)]:
        alike = lengths == length
        sums = tally(values[alike], np.ones(alike.sum(), dtype=bool), draws[:, alike])
        totals.append(sums.mean)
        there.append(int(sums.count))
        drawn.append(sums.resampled_count > 0)
        resampled.append(sums.resampled_total / np.maximum(sums.resampled_count, 1)[:, None])
    if not totals:
        nothing = np.full(values.shape[1], np.nan)
        return Score(nothing, np.full((len(draws), values.shape[1]), np.nan), 0)
    number = np.sum(drawn, axis=0)[:, None]  # [resample, 1]
    mean = np.divide(np.sum(resampled, axis=0), number, out=np.full(resampled[0].shape, np.nan), where=number > 0)
    return Score(np.mean(totals, axis=0), mean, sum(there), float(effective_units(draws.sum(1))))


def _predictions(treebank: TreebankStates, maps: Mapping[str, Maps], device: torch.device):
    """Batches of sentences: their numbers, and predicted distances and depths, the linear order last."""
    for numbers in treebank.groups(CHUNK, np.arange(len(treebank))):
        batch = padded(treebank, numbers, device, len(maps["distance"]))
        with torch.inference_mode():
            apart = train.distances(train.project(batch.states, maps["distance"])).cpu().numpy()
            deep = train.depths(train.project(batch.states, maps["depth"])).cpu().numpy()
        positions = np.arange(apart.shape[-1])
        linear = np.broadcast_to(abs(positions[:, None] - positions), (1, *apart.shape[1:]))
        yield (
            numbers,
            np.concatenate([apart, linear]),
            np.concatenate([deep, np.broadcast_to(positions, linear.shape[:-1])]),
        )


def _row(treebank: TreebankStates, number: int, apart: np.ndarray, deep: np.ndarray) -> tuple:
    """The row of a sentence in `SentenceScores`."""
    sentence = treebank.sentences[number]
    kept, distances = scored(sentence), treebank.gold.distances[number].numpy().astype(float)
    edges = gold_edges(treebank, number)
    roots = kept & (sentence.heads == ROOT)
    shallowest = np.where(kept, deep, np.inf).argmin(-1)
    return (
        len(sentence),
        len(edges),
        bool(roots.any()),
        [len(edges & edges_of_space) for edges_of_space in spanning_edges(apart, kept)],
        roots[shallowest],
        spearman(apart, distances).mean(-1),
        spearman(deep, treebank.gold.depths[number].numpy()),
    )


def spearman(predicted: Float[np.ndarray, "*dims word"], gold: np.ndarray) -> Float[np.ndarray, "*dims"]:
    """Rank correlation along the last axis, ties shared; 0 where one side is constant.

    >>> spearman(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([0, 1, 2]))
    array([1., 0.])
    """
    return np.nan_to_num(rank_correlation.spearman(predicted, gold))


MOST_WORDS = 24  # longer sentences do not fit on a page


def example_trees(
    treebank: TreebankStates, maps: Mapping[str, Maps], layer: int, number: int, seed: int, device: torch.device
) -> list[dict[str, Any]]:
    """Sentences of median length, chosen by the seed: their words, and edges between two places, from 0."""
    return [
        {
            "words": list(treebank.sentences[index].forms),
            "gold": sorted(gold_edges(treebank, index)),
            "predicted": predicted_edges(treebank, index, maps, layer - 1, device),
        }
        for index in _typical([len(sentence) for sentence in treebank.sentences], number, seed)
    ]


def _typical(lengths: Sequence[int], number: int, seed: int) -> list[int]:
    """The numbers of sentences whose length is next to the median, of those that fit on a page."""
    ranks = np.random.default_rng(seed).permutation(len(lengths))
    away = abs(np.array(lengths) - min(float(np.median(lengths)), MOST_WORDS))
    fits = [index for index in np.lexsort((ranks, away)).tolist() if lengths[index] <= MOST_WORDS]
    return sorted(fits[:number])

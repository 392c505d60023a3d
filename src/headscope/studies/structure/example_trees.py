"""A few sentences with their gold tree and the predicted one, for a picture."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from headscope.studies.structure.gold_trees import scored
from headscope.studies.structure.scores import predicted_edges, spanning_edges
from headscope.studies.structure.train import Maps
from headscope.studies.structure.treebank_states import TreebankStates

MOST_WORDS = 24  # longer sentences do not fit on a page


def example_trees(
    treebank: TreebankStates,
    maps: Mapping[str, Maps],
    layer: int,
    number: int,
    seed: int,
    device: torch.device,
) -> list[dict[str, Any]]:
    """Sentences of median length, chosen by the seed: their words, and edges between two places, from 0."""
    return [
        {
            "words": list(treebank.sentences[each].forms),
            "gold": sorted(
                spanning_edges(treebank.gold.distances[each].numpy().astype(float), scored(treebank.sentences[each]))
            ),
            "predicted": predicted_edges(treebank, each, maps, layer - 1, device),
        }
        for each in _typical([len(sentence) for sentence in treebank.sentences], number, seed)
    ]


def _typical(lengths: Sequence[int], number: int, seed: int) -> list[int]:
    """The numbers of sentences whose length is next to the median, of those that fit on a page."""
    ranks = np.random.default_rng(seed).permutation(len(lengths))
    away = abs(np.array(lengths) - min(float(np.median(lengths)), MOST_WORDS))
    fits = [place for place in np.lexsort((ranks, away)).tolist() if lengths[place] <= MOST_WORDS]
    return sorted(fits[:number])

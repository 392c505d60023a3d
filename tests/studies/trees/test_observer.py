"""Trees of attention: the same with loops over tokens and networkx; planted trees and phrases are found."""

import itertools
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.linguistics.dependencies import FixedWord
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.heads.trees.observer import TreeObserver, means_of
from headscope.studies.heads.trees.scores import FIXED, SPECIAL_TOKENS, TreeRows
from support.any_examples import overlapping, spoken
from support.made_answers import tree
from support.made_inputs import inputs_of, maps_of, shown_maps
from support.planted_trees import recursive

PAIR = Example(
    "p",
    (tree("the catty saw her slept .", (2, 3, 0, 3, 3, 3), "det nsubj root obj obj punct"),),
    (tree("it ran birds", (2, 0, 2), "nsubj root obj"),),
)
OTHERS = (
    Example("a", (tree("an old dog ran", (3, 3, 4, 0), "det amod nsubj root"),)),
    Example("b", (tree("we sat by doors", (2, 0, 4, 2), "nsubj root case obl"),)),
    Example("c", (tree("rain", (0,), "root"),)),
)

# Words of `PAIR` and `OTHERS` whose head is at each offset, or that are linked with it; the same for each position.
AT_OFFSETS = ({-1: 2, 1: 7, -2: 2, 2: 1}, {-1: 9, 1: 9, -2: 3, 2: 3})
AT_POSITIONS = (
    {-1: 2, 2: 5, -2: 4, 3: 5, -3: 2, 4: 2, -4: 3, -5: 1},
    {1: 4, -1: 4, 2: 7, -2: 7, 3: 8, -3: 5, 4: 4, -4: 5, 5: 1, -5: 2, -6: 1},
)


def observed(
    layers: Sequence[list[Tensor]], inputs: list[Encoded], block: int = 10**6, units: int | None = None, **options: Any
) -> TreeRows:
    """The rows of inputs with the maps of each layer, so many queries at a time."""
    observer = TreeObserver(means_of(tuple(len(maps[0]) for maps in layers))[:units], **options)
    return TreeRows.in_order([shown_maps(observer, layers, inputs, block)])


def test_single_heads_alone_have_the_rows_that_they_have_beside_means() -> None:
    inputs = inputs_of(PAIR, *OTHERS)
    layers = [maps_of(inputs, 2, seed=seed) for seed in range(2)]
    full, alone = (observed(layers, inputs, units=units) for units in (None, 4))
    assert alone.uas.shape[1] == 4 and full.uas.shape[1] == 7
    for name in ("uas", "uuas", "root", "f1"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(full, name)[:, :4])
    np.testing.assert_array_equal(alone.fixed, full.fixed)


def word_maps(example: Example, attention: np.ndarray, number: int) -> np.ndarray:
    """Attention between [CLS], [SEP] and the words of a sentence, in loops over tokens; [head, node, node]."""
    said = spoken(example)
    seps = {position for position, token in enumerate(said["segments"]) if token is None} - {0}
    _, tokens = list(overlapping(example, said))[number]
    nodes = [{0}, seps, *tokens]
    return np.array(
        [
            [
                [np.mean([sum(head[query, key] for key in keys) for query in queries]) for keys in nodes]
                for queries in nodes
            ]
            for head in attention
        ]
    )


def heads_of(scores: np.ndarray, root: int | None) -> list[int]:
    """The heads of the best tree by networkx, -1 for its root; `root` None tries all."""
    tries = []
    for candidate in range(len(scores)) if root is None else [root]:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(scores)))
        for word in range(len(scores)):
            graph.add_weighted_edges_from(
                (head, word, scores[word, head]) for head in range(len(scores)) if word not in (head, candidate)
            )
        made = nx.maximum_spanning_arborescence(graph)
        heads = [next(iter(made.predecessors(word)), -1) for word in range(len(scores))]
        tries.append((sum(scores[word, head] for word, head in enumerate(heads) if head >= 0), heads))
    return max(tries)[1]


def naive(sentence: Sentence, maps: np.ndarray) -> dict[str, np.ndarray]:
    """The counts of a sentence, [unit, direction, special tokens, root]; `maps` are those of each unit."""
    shape = (len(maps), 2, 2, 3)
    uas, uuas, root_right = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int), np.zeros(shape[:3], dtype=bool)
    gold_root = sentence.heads.index(0)
    scored = [
        (word, head - 1)
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.deprel, strict=True))
        if head and relation != "punct"
    ]
    for unit, attention in enumerate(maps):
        words = attention[2:, 2:] / attention[2:, 2:].sum(1, keepdims=True)
        for kept, (between, before) in enumerate(((attention, 2), (words, 0))):
            both = between + between.T
            graph = nx.Graph([(i, j, {"weight": both[i, j]}) for i in range(len(both)) for j in range(i)])
            linked = {frozenset(edge) for edge in nx.maximum_spanning_tree(graph).edges}
            for direction, scores in enumerate((between, between.T)):
                for number, root in enumerate((gold_root + before, None)):
                    heads = heads_of(scores, root)
                    edges = {(word - before, head - before) for word, head in enumerate(heads)}
                    uas[unit, direction, kept, number] = sum(pair in edges for pair in scored)
                    uuas[unit, direction, kept, number] = sum(pair in edges or pair[::-1] in edges for pair in scored)
                    if root is None:
                        root_right[unit, direction, kept] = heads.index(-1) == gold_root + before
                uuas[unit, direction, kept, 2] = sum(
                    frozenset((word + before, head + before)) in linked for word, head in scored
                )
    return {"uas": uas, "uuas": uuas, "root": root_right}


@pytest.mark.parametrize("block", [3, 10**6])
def test_trees_are_those_of_loops_and_networkx(block: int) -> None:
    inputs = inputs_of(PAIR, *OTHERS)
    layers = [maps_of(inputs, heads, seed=heads) for heads in (2, 1)]
    rows, means = observed(layers, inputs, block), means_of((2, 1))
    assert list(zip(rows.input.tolist(), rows.number.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0), (2, 0)]
    for row, (input, number) in enumerate(zip(rows.input, rows.number, strict=True)):
        example = inputs[input].example
        assert example is not None
        attention = np.concatenate([maps[input].numpy() for maps in layers])
        of_heads = word_maps(example, attention, number)
        expected = naive(example.sentences[number], np.einsum("uh,hij->uij", means, of_heads))
        for name, values in expected.items():
            np.testing.assert_array_equal(getattr(rows, name)[row], values, err_msg=name)
    assert rows.words.tolist() == [4, 2, 3, 3] and rows.rooted.all() and not rows.bracketed.any()
    for counts, offsets, positions in zip(rows.fixed.sum(0).tolist(), AT_OFFSETS, AT_POSITIONS, strict=True):
        found = {fixed: count for fixed, count in zip(FIXED, counts, strict=True) if count}
        expected = {FixedWord(offset): count for offset, count in offsets.items()}
        assert found == expected | {FixedWord(position=position): count for position, count in positions.items()}


def test_a_batch_is_its_inputs_one_by_one() -> None:
    inputs = inputs_of(PAIR, *OTHERS)
    maps = maps_of(inputs)
    batched = observed([maps], inputs)
    parts = [observed([[attention]], [encoded]) for attention, encoded in zip(maps, inputs, strict=True)]
    alone = TreeRows.in_order(parts[::-1])
    for name in ("input", "number", "words", "uas", "uuas", "root", "fixed"):
        np.testing.assert_array_equal(getattr(batched, name), getattr(alone, name))


def looks(encoded: Encoded, nodes: Sequence[int], share: float = 0.9) -> Tensor:
    """One head whose token i gives `share` of its attention to token `nodes[i]`, the rest to all alike."""
    size = len(encoded)
    attention = torch.full((1, size, size), (1 - share) / size)
    attention[0, torch.arange(size), torch.tensor(nodes)] += share
    return attention


def test_a_head_that_looks_at_heads_has_the_whole_tree() -> None:
    made = Example("m", (tree("the old cat saw", (3, 3, 4, 0), "det amod nsubj root"),))
    (encoded,) = inputs_of(made)
    # [CLS] the old cat saw [SEP]
    looking = looks(encoded, [0, 3, 3, 4, 5, 5])
    rows = observed([[looking]], [encoded])
    assert (rows.uas[0, 0, 0, :, :2] == 3).all() and (rows.uuas[0, 0, 0] == 3).all()
    # "saw" looks at [SEP], which so becomes the root where it is a node.
    assert rows.root[0, 0, 0].tolist() == [False, True]
    backward = observed([[looking.mT / looking.mT.sum(-1, keepdim=True)]], [encoded])
    assert backward.uas[0, 0, 1, SPECIAL_TOKENS.index("left_out"), 0] == 3


def test_phrases_whose_words_look_alike_are_found() -> None:
    text, phrases = "the old cat , saw her house", ((0, 7), (0, 3), (4, 7), (1, 3), (5, 7))
    made = tree(text, (3, 3, 5, 5, 0, 7, 5), "det amod nsubj punct root det obj")
    sentence = Sentence(made.text, made.words, heads=made.heads, deprel=made.deprel, phrases=phrases)
    (encoded,) = inputs_of(Example("m", (sentence,)))
    # "old cat" look alike, "the" nearly so; "her house" look alike, "saw" nearly so; the comma is no word of a phrase
    rows = torch.zeros(1, 9, 9)
    alike = ((8, 2, 0, 0), (9, 1, 0, 0), (9, 1, 0, 0), (0, 0, 0, 9), (0, 0, 8, 2), (0, 0, 9, 1), (0, 0, 9, 1))
    for token, weights in enumerate(alike, 1):
        rows[0, token, [1, 2, 6, 7]] = torch.tensor(weights, dtype=torch.float32)
    found = observed([[rows]], [encoded])
    assert found.bracketed.tolist() == [True]
    np.testing.assert_allclose(found.f1[0], 1)
    # right-branching: (4,7) without the comma is (3,6), and (5,7) is (4,6): 2 of its 4 phrases, of 4
    np.testing.assert_allclose(found.simple_f1[0, 0], 0.5)


def test_distances_are_those_of_the_paper() -> None:
    made = tree("the old cat saw her", (3, 3, 4, 0, 4), "det amod nsubj root obj")
    sentence = Sentence(made.text, made.words, heads=made.heads, deprel=made.deprel, phrases=((0, 5), (0, 3), (3, 5)))
    (encoded,) = inputs_of(Example("m", (sentence,)))
    (attention,) = maps_of([encoded], heads=3)
    found = observed([[attention]], [encoded], bias=1.5).f1[0, :3]
    for head in range(3):
        for kept, columns in enumerate((slice(0, 7), slice(1, 6))):
            # The observer has [CLS] and [SEP] first: their order does not matter for a distance.
            words = attention[head, 1:6, columns].double().numpy()
            words = words / words.sum(1, keepdims=True)
            divergences, hellingers = [], []
            for one, other in itertools.pairwise(words):
                middle = (one + other) / 2
                divergences.append(
                    np.sqrt(np.sum(one * np.log(one / middle)) / 2 + np.sum(other * np.log(other / middle)) / 2)
                )
                hellingers.append(np.sqrt(np.sum((np.sqrt(one) - np.sqrt(other)) ** 2)) / np.sqrt(2))
            for index, gaps in enumerate((divergences, hellingers)):
                biased = [gap + 1.5 * np.mean(gaps) * (1 - number / 3) for number, gap in enumerate(gaps)]
                predicted = recursive(biased) - {(0, 5)}
                expected = 2 * len(predicted & {(0, 3), (3, 5)}) / (len(predicted) + 2)
                assert found[head, index, kept] == pytest.approx(expected), (head, index, kept)

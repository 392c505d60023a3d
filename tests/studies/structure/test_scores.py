"""Scores, gold trees and losses equal loops; spaces that are trained together equal those trained alone."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st

from headscope.encoding.parsed_sentences import Parsed
from headscope.errors import HeadscopeError
from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.layers.structure import train, treebank_states
from headscope.studies.layers.structure.scores import (
    example_trees,
    predicted_edges,
    score,
    scores,
    spanning_edges,
    spearman,
)
from headscope.studies.layers.structure.train import ProbeRecipe, fit
from headscope.studies.layers.structure.treebank_states import TreebankStates, depths, distances, padded

CPU = torch.device("cpu")
RECIPE = ProbeRecipe(rank="3", learning_rate=0.01, batch=4, epochs=3, held_out=0.2)


@st.composite
def trees(draw: st.DrawFn) -> np.ndarray:
    """The heads of a random tree, counted from 1."""
    order = draw(st.permutations(range(draw(st.integers(1, 9)))))
    heads = np.zeros(len(order), dtype=int)
    for position, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, position - 1))] + 1
    return heads


def steps(heads: np.ndarray, start: int) -> list[int]:
    """The number of edges from a word to all others, by breadth-first search."""
    beside = {word: set() for word in range(len(heads))}
    for word, head in enumerate(heads.tolist()):
        if head:
            beside[word].add(head - 1)
            beside[head - 1].add(word)
    seen, queue = {start: 0}, deque([start])
    while queue:
        word = queue.popleft()
        for other in beside[word] - set(seen):
            seen[other] = seen[word] + 1
            queue.append(other)
    return [seen[word] for word in range(len(heads))]


@given(trees())
def test_distances_and_depths_are_those_of_a_search(heads: np.ndarray) -> None:
    assert distances(heads).tolist() == [steps(heads, word) for word in range(len(heads))]
    assert depths(distances(heads), heads).tolist() == steps(heads, int(np.flatnonzero(heads == 0)[0]))


@given(trees())
def test_the_spanning_tree_of_gold_distances_is_the_gold_tree(heads: np.ndarray) -> None:
    edges = {(min(word, head - 1), max(word, head - 1)) for word, head in enumerate(heads.tolist()) if head}
    assert spanning_edges(distances(heads)[None].astype(float), np.full(len(heads), True)) == [edges]


def treebank(sentences: int = 30, spaces: int = 3, width: int = 6, seed: int = 0) -> TreebankStates:
    """Sentences with random trees and random states; the last word is punctuation."""
    random, parsed, states = np.random.default_rng(seed), [], []
    for number in range(sentences):
        words = int(random.integers(2, 9))
        heads = np.array([0, *(int(random.integers(1, position + 1)) for position in range(1, words))])
        relations = np.array(["root", *["dep"] * (words - 2), "punct"])
        forms = tuple("abcdefghi"[:words])
        parsed.append(Parsed(number, 0, number, np.arange(words), forms, heads, relations, ((1,),) * words))
        states.append(torch.from_numpy(random.normal(size=(spaces, words, width)).astype(np.float16)))
    return TreebankStates(parsed, states)


def random_maps(bank: TreebankStates, seed: int = 1) -> dict[str, torch.Tensor]:
    """Random maps of both kinds of probe."""
    spaces, _, width = bank.arrays[0].shape
    generator = torch.Generator().manual_seed(seed)
    return {kind: torch.randn(spaces, width, 4, generator=generator) for kind in ("distance", "depth")}


def kruskal(apart: np.ndarray, kept: list[int]) -> set[tuple[int, int]]:
    """The minimum spanning tree: the shortest edges that join two parts."""
    part, edges = {word: word for word in kept}, set()
    for first, second in sorted(((i, j) for i in kept for j in kept if i < j), key=lambda pair: apart[pair]):
        if part[first] != part[second]:
            edges.add((first, second))
            old = part[second]
            part = {word: part[first] if of == old else of for word, of in part.items()}
    return edges


def test_scores_equal_loops_over_words() -> None:
    bank = treebank()
    maps = random_maps(bank)
    per_sentence = score(bank, maps, CPU)
    for number, (sentence, states) in enumerate(zip(bank.sentences, bank.arrays, strict=True)):
        kept = np.flatnonzero(sentence.relations != "punct").tolist()
        gold = np.array([steps(sentence.heads, word) for word in range(len(sentence))])
        for space in range(3):
            vectors = states[space].double().numpy() @ maps["distance"][space].double().numpy()
            apart = np.array([[((one - other) ** 2).sum() for other in vectors] for one in vectors])
            shared = kruskal(apart, kept) & kruskal(gold.astype(float), kept)
            assert per_sentence.right[number, space] == len(shared)
            rows = [scipy.stats.spearmanr(one, other)[0] for one, other in zip(apart, gold, strict=True)]
            assert per_sentence.distance_spearman[number, space] == pytest.approx(
                np.array(rows, dtype=float).mean(), abs=1e-5
            )
            deep = ((states[space].double().numpy() @ maps["depth"][space].double().numpy()) ** 2).sum(1)
            assert per_sentence.root[number, space] == (sentence.heads[min(kept, key=lambda word: deep[word])] == 0)
            expected = scipy.stats.spearmanr(deep, steps(sentence.heads, 0))[0]
            assert per_sentence.norm_spearman[number, space] == pytest.approx(expected, abs=1e-5)
        assert per_sentence.right[number, 3] == sum(
            abs(one - other) == 1 for one, other in kruskal(gold.astype(float), kept)
        )
        assert per_sentence.edges[number] == len(kept) - 1


def test_trees_of_examples_are_those_of_the_layer() -> None:
    bank = treebank(4, width=3)
    maps = random_maps(bank)
    for layer in (1, 2, 3):
        trees = example_trees(bank, maps, layer, 4, 0, CPU)
        expected = [predicted_edges(bank, number, maps, layer - 1, CPU) for number in range(4)]
        assert [tree["predicted"] for tree in trees] == expected


def test_correlations_are_averaged_by_length() -> None:
    bank = treebank()
    per_sentence = score(bank, random_maps(bank), CPU)
    none = replace(per_sentence, root=per_sentence.root * 0, right=per_sentence.right * 0)
    for name in ("root_accuracy", "uuas"):
        of_none = scores(none, poisson_draws(range(len(bank)), 0, 200))[name]
        assert (of_none.mean == 0).all() and (of_none.interval[:, 1] > 0.1).all()  # 0 of 30 is not 0 to 0
    made = scores(per_sentence, poisson_draws(range(len(bank)), 0, 10))
    lengths = [length for length in range(5, 51) if (per_sentence.length == length).any()]
    expected = np.mean(
        [per_sentence.distance_spearman[per_sentence.length == length].mean(0) for length in lengths], axis=0
    )
    np.testing.assert_allclose(made["distance_spearman"].mean, expected)
    np.testing.assert_allclose(made["uuas"].mean, per_sentence.right.sum(0) / per_sentence.edges.sum())
    assert (
        made["uuas"].resampled.shape == (10, 4) and made["distance_spearman"].count == (per_sentence.length >= 5).sum()
    )


def test_without_long_sentences_there_is_no_correlation() -> None:
    bank = treebank()
    short = bank[[index for index, sentence in enumerate(bank.sentences) if len(sentence) < 5]]
    made = scores(score(short, random_maps(short), CPU), poisson_draws(range(len(short)), 0, 5))
    assert np.isnan(made["norm_spearman"].mean).all() and made["norm_spearman"].count == 0


def test_losses_equal_loops() -> None:
    bank = treebank(5)
    maps = random_maps(bank)["distance"]
    batch = padded(bank, range(5), CPU)
    projected = train.project(batch.states, maps)
    for number, sentence in enumerate(bank.sentences):
        vectors = torch.stack([bank.arrays[number][space].float() @ maps[space] for space in range(3)]).numpy()
        words = range(len(sentence))
        for space in range(3):
            pairs = [
                abs(((vectors[space, i] - vectors[space, j]) ** 2).sum() - steps(sentence.heads, i)[j])
                for i in words
                for j in words
            ]
            loss = train.distance_loss(projected, batch.distances, batch.real)[space, number]
            assert float(loss) == pytest.approx(sum(pairs) / len(words) ** 2, rel=1e-4)
            alone = [abs((vectors[space, i] ** 2).sum() - steps(sentence.heads, 0)[i]) for i in words]
            loss = train.depth_loss(projected, batch.depths, batch.real)[space, number]
            assert float(loss) == pytest.approx(np.mean(alone), rel=1e-4)


def test_spaces_trained_together_are_those_trained_alone() -> None:
    bank = treebank()
    alone = TreebankStates(bank.sentences, [states[:1] for states in bank.arrays])
    together, single = (fit(states, RECIPE, 0, CPU) for states in (bank, alone))
    assert together.losses[0, 0, 0] == pytest.approx(single.losses[0, 0, 0], rel=1e-5)
    torch.testing.assert_close(together.maps["distance"][0], single.maps["distance"][0], rtol=1e-4, atol=1e-5)


def test_the_first_spaces_alone_have_the_maps_and_scores_that_they_have_beside_others() -> None:
    bank = treebank()
    full, some = (fit(bank, RECIPE, 0, CPU, spaces=spaces) for spaces in (None, 2))
    np.testing.assert_array_equal(some.losses, full.losses[..., :2])
    for kind, maps in some.maps.items():
        assert torch.equal(maps, full.maps[kind][:2])
    of_full, of_some = (score(bank, fitted.maps, CPU) for fitted in (full, some))
    np.testing.assert_array_equal(of_some.right[:, :2], of_full.right[:, :2])
    np.testing.assert_array_equal(of_some.norm_spearman[:, :2], of_full.norm_spearman[:, :2])


def test_ranks_trained_together_are_those_trained_alone_and_the_best_is_chosen() -> None:
    bank, counted = treebank(), []
    together = fit(bank, replace(RECIPE, rank="1,5"), 0, CPU, counted.append)
    assert sum(counted) == 24 * RECIPE.epochs
    for index, rank in enumerate((1, 5)):
        single = fit(bank, replace(RECIPE, rank=str(rank)), 0, CPU)
        np.testing.assert_allclose(together.losses[index], single.losses[0], rtol=1e-5)
        for kind in ("distance", "depth"):
            torch.testing.assert_close(together.by_rank[rank][kind], single.maps[kind], rtol=1e-4, atol=1e-5)
            assert single.ranks[kind] == [rank] * 3
    for row, kind in enumerate(("distance", "depth")):
        for space, rank in enumerate(together.ranks[kind]):
            assert rank == (1, 5)[int(together.losses[:, row, space].argmin())]
            chosen = together.maps[kind][space]
            torch.testing.assert_close(chosen[:, :rank], together.by_rank[rank][kind][space])
            assert chosen.shape[1] == 5 and not chosen[:, rank:].any()


def test_losses_of_a_fit_are_those_of_the_held_out_sentences() -> None:
    bank = treebank()
    fitted = fit(bank, RECIPE, 0, CPU)
    held = bank[fitted.held_out]
    batch = padded(held, range(len(held)), CPU)
    loss = train.depth_loss(train.project(batch.states, fitted.maps["depth"]), batch.depths, batch.real).mean(1)
    assert loss.tolist() == pytest.approx(fitted.losses[0, 1].tolist(), rel=1e-5)


def test_a_loss_that_is_no_number_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="use a smaller --learning-rate"):
        fit(treebank(), replace(RECIPE, learning_rate=1e30), 0, CPU)


def test_decaying_embeddings_halve_with_each_word() -> None:
    spaces = treebank_states._spaces(np.stack([np.eye(3), np.full((3, 3), 9.0)]))
    np.testing.assert_allclose(spaces[0], 9)
    np.testing.assert_allclose(spaces[1], np.eye(3))
    np.testing.assert_allclose(spaces[2, 0], np.array([4, 2, 1]) / 7)
    np.testing.assert_allclose(spaces[2, 1], np.array([1, 2, 1]) / 4)


def test_groups_hold_each_sentence_once() -> None:
    bank = treebank(50)
    parts = bank.groups(8, np.random.default_rng(0).permutation(50))
    assert sorted(number for part in parts for number in part) == list(range(50)) and max(map(len, parts)) == 8


def test_a_constant_has_no_correlation() -> None:
    assert spearman(np.ones((2, 4)), np.arange(4)).tolist() == [0, 0]

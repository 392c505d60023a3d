"""Scores and losses of the parsers against loops over words and heads."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from headscope.encoding.block_parts import SPECIAL
from headscope.studies.heads.probe.observer import CELLS, Treebank, padded
from headscope.studies.heads.probe.parsers import (
    DISTANCES,
    AttentionAndWordsParser,
    AttentionParser,
    DistanceParser,
    UnitScores,
    distances,
    offsets,
)
from headscope.studies.heads.probe.train import loss, scored
from support.parsed_maps import attention_score, lexicon_of, naive_loss, randomised, sentence, treebank_of, words_score

CPU = torch.device("cpu")
HEADS, NUMBERS = 3, 5
TREES = ((2, 0, 2, 3), (0,), (0, 1), (3, 1, 0, -1, 3, 5))
BANK = treebank_of([sentence(heads, number=number) for number, heads in enumerate(TREES)], HEADS)
LEXICON = lexicon_of(NUMBERS)
Score = Callable[[dict[str, np.ndarray], np.ndarray, np.ndarray, int, int], float]


def by_loops(score: Score, parser: torch.nn.Module, number: int, seed: int) -> list[list[float]]:
    """The scores of ROOT and of each word as the head of each word, by the parser of a seed."""
    parameters = {name: tensor[seed].detach().double().numpy() for name, tensor in parser.named_parameters()}
    between = BANK.arrays[number].double().numpy()
    rows = LEXICON.rows(BANK.sentences[number])
    vectors = np.concatenate([np.zeros((SPECIAL, NUMBERS)), LEXICON.table.double().numpy()[rows]])
    scalars, constant = parameters["root.scalars"], float(parameters["root.constant"])
    found = []
    for word in range(SPECIAL, len(vectors)):
        root = sum(scalars[role] * score(parameters, between, vectors, word, role) for role in range(SPECIAL))
        words = [score(parameters, between, vectors, word, other) for other in range(SPECIAL, len(vectors))]
        found.append([root + constant, *words])
    return found


def alone(parameters: dict[str, np.ndarray], between: np.ndarray, vectors: np.ndarray, one: int, other: int) -> float:
    return attention_score(parameters["weights"], between, one, other)


@pytest.mark.parametrize(("kind", "score"), [(AttentionParser, alone), (AttentionAndWordsParser, words_score)])
def test_scores_and_loss_are_those_of_loops(kind: type[torch.nn.Module], score: Score) -> None:
    parser = randomised(kind(BANK.features, NUMBERS, seeds=2))
    batch, among = padded(BANK, LEXICON, [0, 3, 1, 2], CPU), torch.tensor([[True] * 4, [True, False, True, False]])
    with torch.inference_mode():
        scores, totals = scored(parser, batch, LEXICON.table), loss(parser, batch, LEXICON.table, among)
    for seed in range(2):
        expected = 0.0
        for row, number in enumerate(batch.numbers):
            naive, words = by_loops(score, parser, number, seed), len(TREES[number])
            expected += naive_loss(naive, TREES[number]) * bool(among[seed, row])
            for word in range(words):
                its = scores[seed, row, word, : words + 1].numpy()
                assert its[word + 1] == -np.inf  # never its own head
                others = np.arange(words + 1) != word + 1
                np.testing.assert_allclose(its[others], np.array(naive[word])[others], atol=1e-5)
            assert (scores[seed, row, :, words + 1 :] == -torch.inf).all()
        assert float(totals[seed]) == pytest.approx(expected, abs=1e-4)


def by_pair(lengths: list[int], words: int) -> Tensor:
    """The features of `distances` of each sentence, word and candidate."""
    return distances(torch.tensor(lengths), words)[:, offsets(words)]


def test_distances_are_told_word_by_word() -> None:
    found = by_pair([4, 2], 4)
    assert found.shape == (2, 4, 5, DISTANCES)
    for example, length in enumerate((4, 2)):
        for word in range(length):
            for head in range(length):
                away = head - word
                near = [float(away == offset) for offset in (-2, -1, 1, 2)]
                expected = [max(away, 0) / length, max(-away, 0) / length, *near, 0.0]
                assert found[example, word, head + 1].tolist() == pytest.approx(expected)
            assert found[example, word, 0].tolist() == [0.0] * (DISTANCES - 1) + [1.0]


def test_the_gradient_of_the_baseline_is_that_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    random = torch.Generator().manual_seed(0)
    shapes = (5, 2 * 4, 3), (5, 4, 3), (5, 5, 3), (3,)
    inputs = [torch.randn(shape, generator=random, dtype=torch.float64, requires_grad=True) for shape in shapes]
    for cache in (10**6, 2 * 4 * 5 * 3):  # all sentences at once, and two at a time
        monkeypatch.setattr("headscope.studies.heads.probe.parsers.CACHE", cache)
        assert torch.autograd.gradcheck(UnitScores.apply, inputs)
        at_offset, dependent, candidate, weights = inputs
        plain = (at_offset[:, offsets(4)] + dependent[:, :, None] + candidate[:, None]).tanh() @ weights
        torch.testing.assert_close(UnitScores.apply(*inputs), plain)


def test_the_baseline_sees_distances_and_words_but_no_attention() -> None:
    parser = randomised(DistanceParser(BANK.features, NUMBERS))
    batch = padded(BANK, LEXICON, [0, 3], CPU)
    other = Treebank(BANK.sentences, [array.flip(0) for array in BANK.arrays])
    with torch.inference_mode():
        scores = scored(parser, batch, LEXICON.table)
        assert torch.equal(scores, scored(parser, padded(other, LEXICON, [0, 3], CPU), LEXICON.table))
        alone = scored(parser, padded(BANK, LEXICON, [0], CPU), LEXICON.table)
    np.testing.assert_allclose(scores[0, 0, :4, :5], alone[0, 0], atol=1e-5)
    parameters = {name: tensor[0].detach().numpy() for name, tensor in parser.named_parameters()}
    vectors = LEXICON.table.numpy()[LEXICON.rows(BANK.sentences[0])]
    hidden = np.tanh(
        parameters["dependent.weight"] @ vectors[1]
        + parameters["dependent.bias"]
        + parameters["head.weight"] @ vectors[3]
        + parameters["distance.weight"] @ by_pair([4], 4)[0, 1, 4].numpy()
    )
    expected = (parameters["score.weight"] @ hidden).item()
    assert float(scores[0, 0, 1, 4]) == pytest.approx(expected, abs=1e-5)


def test_batches_have_each_sentence_once_and_are_bounded() -> None:
    bank = treebank_of([sentence([0] + [1] * (40 * (number % 7))) for number in range(50)], 1)
    parts = bank.groups(4, np.arange(1, 50))
    assert sorted(number for part in parts for number in part) == list(range(1, 50))
    for part in parts:
        longest = max(len(bank.sentences[number]) for number in part) + SPECIAL
        assert len(part) <= 4 and (len(part) == 1 or len(part) * longest**2 <= CELLS)

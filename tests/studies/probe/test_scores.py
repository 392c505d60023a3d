"""What parsers get right, and what each head adds to that, against loops over words."""

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
import torch

from headscope.encoding.block_parts import SPECIAL
from headscope.errors import HeadscopeError
from headscope.linguistics.spanning_tree import cycle
from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.heads.probe.experiments import Gold, predict, preferences
from headscope.studies.heads.probe.observer import Treebank, padded
from headscope.studies.heads.probe.parsers import AttentionAndWordsParser, AttentionParser, DistanceParser
from headscope.studies.heads.probe.train import Fitted, ParserRecipe, fit, hold_out, scored
from headscope.studies.heads.probe.variables import weighed
from headscope.studies.heads.probe.word_vectors import Lexicon
from support.parsed_maps import attention_score, lexicon_of, randomised, sentence, treebank_of

CPU = torch.device("cpu")
TREES = ((2, 0, 2, 3), (0,), (0, 1), (3, 1, 0, -1, 3, 5), (2, 0, 2, 5, 2, 5, 6))
RELATIONS = (("a", "root", "b", "punct"), ("root",), ("root", "a"), ("a", "b", "root", "c", "punct", "b"), None)
SENTENCES = [
    sentence(heads, relations or (), number)
    for number, (heads, relations) in enumerate(zip(TREES, RELATIONS, strict=True))
]
BANK, LEXICON, GOLD = treebank_of(SENTENCES, 3), lexicon_of(2), Gold(SENTENCES)


def test_words_are_scored_but_for_punctuation_and_unknown_heads() -> None:
    assert GOLD.sentence.tolist() == [0] * 3 + [1] + [2] * 2 + [3] * 4 + [4] * 7
    assert GOLD.relation.tolist()[6:10] == ["a", "b", "root", "b"]
    predicted = [np.array(heads) for heads in TREES]
    assert GOLD.right(predicted).all()
    predicted[0] = np.array([2, 0, 1, 0])
    assert GOLD.right(predicted).tolist() == [True, True, False] + [True] * 14


def test_a_tally_is_the_mean_over_words() -> None:
    values = np.random.default_rng(0).random((17, 2))
    draws = poisson_draws(range(5), 0, 50)
    np.testing.assert_allclose(GOLD.tally(values, draws).mean, values.mean(0))
    among = GOLD.relation == "b"
    found = GOLD.tally(values, draws, among)
    np.testing.assert_allclose(found.mean, values[among].mean(0))
    assert int(found.count) == among.sum() and found.interval.shape == (2, 2)


def test_predicted_trees_are_the_best_of_networkx() -> None:
    parser = randomised(AttentionParser(BANK.features, 2, seeds=2))
    ((predicted, _),) = predict([parser], BANK, LEXICON, CPU)
    for number, parsed in enumerate(SENTENCES):
        with torch.inference_mode():
            scores = scored(parser, padded(BANK, LEXICON, [number], CPU), LEXICON.table)[0, 0].double().numpy()
        heads, words = predicted.trees[number], len(parsed)
        assert (heads == 0).sum() == 1 and not cycle(heads.tolist())
        best = []
        for root in range(1, words + 1):
            graph = nx.DiGraph()
            graph.add_edges_from([(0, root, {"weight": scores[root - 1, 0]})])
            for word in range(1, words + 1):
                others = (head for head in range(1, words + 1) if word not in (head, root))
                graph.add_weighted_edges_from((head, word, scores[word - 1, head]) for head in others)
            tree = nx.maximum_spanning_arborescence(graph)
            best.append(sum(data["weight"] for *_, data in tree.edges(data=True)))
        total = sum(scores[word, head] for word, head in enumerate(heads))
        assert total == pytest.approx(max(best), abs=1e-5)
        alone = [max(range(words + 1), key=lambda head: row[head]) for row in scores]
        assert predicted.best[number].tolist() == alone


def test_contributions_add_up_to_the_distance_of_scores() -> None:
    weights, expected = np.random.default_rng(1).normal(size=6), []
    for parsed, between, mask in zip(SENTENCES, BANK.arrays, GOLD.masks, strict=True):
        words = between.double().numpy()[SPECIAL:, SPECIAL:]
        for word in np.flatnonzero(mask):
            head = int(parsed.heads[word])
            others = [other for other in range(len(parsed)) if other not in (word, head - 1)]
            scores = [attention_score(weights, words, int(word), other) for other in range(len(parsed))]
            known = head > 0 and others
            expected.append(scores[head - 1] - np.mean([scores[other] for other in others]) if known else 0.0)
    np.testing.assert_allclose(preferences(BANK, GOLD) @ weights, expected, atol=1e-3)


def test_heads_that_find_a_relation_are_told_by_relation() -> None:
    sentences = [sentence((2, 0, 2), ("a", "root", "b"), number) for number in range(60)]
    gold, raised = Gold(sentences), np.random.default_rng(0).normal(size=(180, 6))
    weights, draws = np.array([[1.0, 0.5, 0, 2, 1, 3], [3.0, 0.5, 0, 2, 1, 1]]), poisson_draws(range(60), 0, 20)
    found = weighed(weights, raised, gold, draws, (2, 1))["relation_contribution"]
    for name, rows in (("a", raised[::3]), ("b", raised[2::3])):
        expected = rows.mean(0) * weights.mean(0)
        there = found.sel(relation=name).transpose("direction", "layer", "head").values.reshape(2, 4)[:, :3]
        np.testing.assert_allclose(there.ravel(), expected, atol=1e-6)
    assert found.sel(relation="root").isnull().all() and found.dims == ("layer", "head", "direction", "relation")


LEARNABLE = [sentence([0, *range(1, 2 + number % 4)], number=number) for number in range(40)]


def learnable() -> tuple[Treebank, Lexicon]:
    """Sentences in which head 2 looks at the syntactic head, and at [CLS] from a root."""
    bank = treebank_of(LEARNABLE, 2)
    for parsed, between in zip(LEARNABLE, bank.arrays, strict=True):
        between[SPECIAL:, :, 1] = 0
        for word, head in enumerate(parsed.heads.tolist(), SPECIAL):
            between[word, head + SPECIAL - 1 if head else 0, 1] = 1
    return bank, lexicon_of(2)


KINDS = {
    "attention": AttentionParser,
    "attention_and_words": AttentionAndWordsParser,
    "distances_and_words": DistanceParser,
}


def test_training_finds_the_head_that_knows_and_keeps_the_best_epoch() -> None:
    bank, lexicon = learnable()
    done: list[int] = []
    recipe = ParserRecipe(attention_rate=0.2, learning_rate=0.01, batch=4, epochs=12)
    fitted = fit(KINDS, bank, lexicon, recipe, [0, 1], CPU, done.append)
    attention = fitted["attention"]
    weights = attention.best.get_parameter("weights")
    assert (weights.argmax(1) == 1).all() and (attention.losses[-1] < 0.2).all() and (attention.losses[0] > 0.2).all()
    for predicted in predict([attention.best], bank, lexicon, CPU)[0]:
        assert Gold(LEARNABLE).right(predicted.trees).all()
    assert sum(done) == 12 * (~hold_out(40, 0.1, [0, 1]).all(0)).sum()
    again = fit(KINDS, bank, lexicon, recipe, [0, 1], CPU)["attention"].best.get_parameter("weights")
    assert torch.equal(weights, again)


@pytest.mark.parametrize("name", KINDS)
def test_seeds_that_are_trained_together_do_not_depend_on_each_other(name: str) -> None:
    """In one batch, since the first seed alone decides on their order."""
    recipe, seeds = ParserRecipe(learning_rate=0.01, batch=64, epochs=4), [0, 7]
    together = fit({name: KINDS[name]}, *learnable(), recipe, seeds, CPU)[name]
    for row, seed in enumerate(seeds):
        alone = fit({name: KINDS[name]}, *learnable(), recipe, [seed], CPU)[name]
        np.testing.assert_allclose([loss[row] for loss in together.losses], np.concatenate(alone.losses), atol=1e-5)
        for parameter, single in zip(together.best.parameters(), alone.best.parameters(), strict=True):
            torch.testing.assert_close(parameter[row], single[0], atol=1e-4, rtol=1e-4)


def test_training_stops_where_no_held_out_loss_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    losses, seen = iter([(3.0, 1.0), (2.0, 2.0), (2.5, 3.0), (2.25, 4.0), (1.0, 0.0)]), []

    def made_up(fitted: Sequence[Fitted], *_: object) -> np.ndarray:
        seen.append(fitted[0].parser.get_parameter("weights").detach().clone())
        return np.array([next(losses)])

    monkeypatch.setattr("headscope.studies.heads.probe.train.evaluated", made_up)
    done: list[int] = []
    recipe = ParserRecipe(learning_rate=0.2, epochs=5, patience=2)
    fitted = fit({"attention": AttentionParser}, *learnable(), recipe, [0, 1], CPU, done.append)["attention"]
    assert np.array(fitted.losses).tolist() == [[3.0, 1.0], [2.0, 2.0], [2.5, 3.0], [2.25, 4.0]]
    best = fitted.best.get_parameter("weights")
    assert torch.equal(best[0], seen[1][0]) and torch.equal(best[1], seen[0][1])
    assert sum(done) == 5 * (~hold_out(40, 0.1, [0, 1]).all(0)).sum()  # what was not needed is told too


def test_a_loss_that_is_no_number_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.studies.heads.probe.train.evaluated", lambda *_: np.full((1, 1), np.nan))
    with pytest.raises(HeadscopeError, match="the loss is nan in epoch 1; use a smaller --learning-rate"):
        fit({"attention": AttentionParser}, *learnable(), ParserRecipe(learning_rate=0.2), [0], CPU)


def test_passes_over_many_sentences_are_few() -> None:
    recipe = ParserRecipe(learning_rate=0.1)
    assert [recipe.passes(number) for number in (10, 2_500, 12_500)] == [10, 6, 3]
    assert ParserRecipe(learning_rate=0.1, epochs=2).passes(10) == 2

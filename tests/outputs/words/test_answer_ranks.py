"""Ranks of answers by planted log-probabilities of pieces."""

import torch

from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.outputs.words.answer_ranks import answer_ranks
from headscope.outputs.words.predictor import WordPredictor
from support.planted_words import SIZE, TOKENIZER, causal_table


def test_rank_counts_the_pieces_above_the_answer_but_no_other_right_answers() -> None:
    prior = torch.full((SIZE,), -9.0)
    for place, word in enumerate(("[MASK]", "river", "house", "book")):
        prior[TOKENIZER.get_vocab()[word]] = -float(place)
    items = [
        ClozeItem(str(number), "facts", filled("the [MASK].", answer), (), answer, other_answers=others)
        for number, (answer, others) in enumerate([("house", ("river",)), ("house", ()), ("book", ()), ("river", ())])
    ]
    ranks = answer_ranks(WordPredictor(causal_table({})), items, prior=prior)
    assert ranks.rank.tolist() == [1, 2, 3, 1]
    total = float(prior.logsumexp(-1))
    assert [round(float(value) + total, 4) for value in ranks.good] == [-2, -2, -3, -1]
    assert [round(float(value) + total, 4) for value in ranks.other] == [-3, -1, -1, -2]

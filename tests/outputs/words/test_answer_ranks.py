"""Ranks of answers by planted log-probabilities of pieces; answers filled piece by piece, as a naive loop does it."""

import string
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import headscope
from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.outputs.words.answer_ranks import answer_ranks
from headscope.outputs.words.predictor import WordPredictor
from support.planted_words import SIZE, TOKENIZER, causal_table
from support.tiny import tiny_bert


def test_rank_counts_the_pieces_above_the_answer_but_no_other_right_answers() -> None:
    prior = torch.full((SIZE,), -9.0)
    for rank, word in enumerate(("[MASK]", "river", "house", "book")):
        prior[TOKENIZER.get_vocab()[word]] = -float(rank)
    items = [
        ClozeItem(str(number), "facts", filled("the [MASK].", answer), (), answer, other_answers=others)
        for number, (answer, others) in enumerate([("house", ("river",)), ("house", ()), ("book", ()), ("river", ())])
    ]
    ranks = answer_ranks(WordPredictor(causal_table({})), items, prior=prior)
    assert ranks.rank.tolist() == [1, 2, 3, 1]
    total = float(prior.logsumexp(-1))
    assert [round(float(value) + total, 4) for value in ranks.good] == [-2, -2, -3, -1]
    assert [round(float(value) + total, 4) for value in ranks.other] == [-3, -1, -1, -2]


def test_an_answer_is_compared_with_the_other_answers_of_its_phenomenon_but_no_other_right_ones() -> None:
    table = causal_table({("the", "river"): 3.0, ("the", "cat"): 2.0, ("the", "house"): 1.0})
    given = [("house", "a", ()), ("book", "a", ()), ("house", "b", ("river",)), ("river", "b", ()), ("cat", "b", ())]
    items = [
        ClozeItem(str(number), kind, filled("the [MASK].", answer), (), answer, other_answers=others)
        for number, (answer, kind, others) in enumerate(given)
    ]
    ranks = answer_ranks(WordPredictor(table), items)
    assert ranks.rank.tolist() == [3, 4, 2, 1, 2]  # in the vocabulary; of equal pieces none is above
    assert ranks.among.tolist() == [1, 0, 0, 1, 0]
    without_cat = answer_ranks(WordPredictor(table), items[:4])
    assert without_cat.among.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("broken", "fill"), [(None, 1.0), (("the", "cat"), 0.0), (("##l", "cat"), 0.0), (("##p", "cat"), 0.0)]
)
def test_an_answer_of_several_pieces_is_filled_only_if_all_come_first(
    broken: tuple[str, str] | None, fill: float
) -> None:
    right = {pair: 3.0 for pair in (("the", "s"), ("s", "##l"), ("##l", "##e"), ("##e", "##p"), ("##p", "##t"))}
    table = causal_table(right | ({broken: 4.0} if broken else {}))
    item = ClozeItem("1", "facts", filled("the [MASK].", "slept"), (), "slept")
    ranks = answer_ranks(WordPredictor(table), [item])
    assert ranks.fill.tolist() == [fill] and ranks.rank.tolist() == [0]


def greedy(network: Any, context: str, pieces: int) -> list[str]:
    """The pieces that a masked model writes from the left in the place of [MASK]: a naive loop."""
    ids = TOKENIZER(context.replace("[MASK]", " ".join(["[MASK]"] * pieces)))["input_ids"]
    special, written = TOKENIZER.all_special_ids, []
    for at in [number for number, id in enumerate(ids) if id == TOKENIZER.mask_token_id]:  # type: ignore[arg-type]
        with torch.no_grad():
            logits = network(torch.tensor([ids])).logits[0, at]
        logits[special] = -torch.inf
        ids[at] = int(logits.argmax())  # type: ignore[index]
        written.append(str(TOKENIZER.convert_ids_to_tokens(ids[at])))  # type: ignore[index]
    return written


def test_a_masked_model_fills_what_a_naive_loop_writes() -> None:
    found = 0
    for seed in range(60):
        network: Any = tiny_bert(seed, BertForMaskedLM)
        first, last = greedy(network, "the cat saw the [MASK].", 2)
        if first.startswith("##") or not last.startswith("##") or not first.isalpha():
            continue
        found += 1
        letters = [last[2:], *(letter for letter in string.ascii_lowercase if letter != last[2:])][:4]
        texts = [filled("the cat saw the [MASK].", first + letter) for letter in letters]
        items = [ClozeItem(str(number), "facts", text, (), "x") for number, text in enumerate(texts)]
        ranks = answer_ranks(WordPredictor(headscope.wrap(network, TOKENIZER)), items)
        known = [pieces == 2 for pieces in ranks.pieces]
        assert known[0] and ranks.fill[known].tolist() == [1.0] + [0.0] * (sum(known) - 1)
    assert found


def test_a_prior_fills_nothing() -> None:
    item = ClozeItem("1", "facts", filled("the [MASK].", "slept"), (), "slept")
    prior = torch.zeros(SIZE)
    assert np.isnan(answer_ranks(WordPredictor(causal_table({})), [item], prior=prior).fill).all()

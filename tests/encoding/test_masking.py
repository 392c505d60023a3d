"""Which tokens are masked, and what takes their place."""

from dataclasses import replace

import numpy as np
import pytest

from headscope import HeadscopeError
from headscope.corpora import Options, read
from headscope.encoding.encoded import CLASS, Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import IGNORED, Masking, masked
from headscope.linguistics.sentence import Example, Sentence
from support.tiny import tiny_tokenizer
from support.trained import tokenizer_of

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(scope="module")
def inputs() -> list[Encoded]:
    tokenizer = tiny_tokenizer()
    tokenizer.model_input_names = [*tokenizer.model_input_names, "token_type_ids"]
    return list(Words(tokenizer, 64, "truncate").encode(read("sample", Options(limit=60))))


def test_a_share_of_the_words_is_masked_and_asked_for(inputs: list[Encoded]):
    tokenizer = tiny_tokenizer()
    for encoded in inputs:
        found, answers = masked(encoded, tokenizer, seed=0)
        before, after = encoded.inputs["input_ids"], found.inputs["input_ids"]
        asked = answers != IGNORED
        pieces = tokenizer.convert_ids_to_tokens(before.tolist())
        words = sum(piece not in SPECIAL for piece in pieces)
        assert asked.sum() == max(1, round(Masking().share * words))
        assert (after[asked] == tokenizer.mask_token_id).all() and np.array_equal(after[~asked], before[~asked])
        assert np.array_equal(answers[asked], before[asked])
        assert not any(pieces[token] in SPECIAL for token in np.flatnonzero(asked))
        assert np.array_equal(found.inputs["token_type_ids"], encoded.inputs["token_type_ids"])


def test_a_masked_stop_is_no_punctuation_any_more(inputs: list[Encoded]):
    stops = 0
    for encoded in inputs:
        found, answers = masked(encoded, tiny_tokenizer(), seed=0)
        hidden = answers != IGNORED
        assert (found.token_class[hidden] == CLASS["other"]).all()
        assert np.array_equal(found.token_class[~hidden], encoded.token_class[~hidden])
        stops += (encoded.token_class[hidden] == CLASS["punct"]).sum()
    assert stops > 5


def test_which_words_depends_on_the_seed_and_the_number_of_the_input_alone(inputs: list[Encoded]):
    tokenizer = tiny_tokenizer()
    forwards = [masked(encoded, tokenizer, seed=3)[1].tolist() for encoded in inputs]
    backwards = [masked(encoded, tokenizer, seed=3)[1].tolist() for encoded in reversed(inputs)]
    assert forwards == backwards[::-1]
    others = [masked(encoded, tokenizer, seed=4)[1].tolist() for encoded in inputs]
    assert sum(one != other for one, other in zip(forwards, others, strict=True)) > len(inputs) / 2


def test_the_same_text_twice_is_masked_in_two_ways(inputs: list[Encoded]):
    encoded = max(inputs, key=len)
    ways = {tuple(masked(replace(encoded, index=number), tiny_tokenizer(), seed=0)[1]) for number in range(10)}
    assert len(ways) == 10


def test_every_word_has_its_turn(inputs: list[Encoded]):
    encoded = max(inputs, key=len)
    asked = np.sum([masked(encoded, tiny_tokenizer(), seed)[1] != IGNORED for seed in range(200)], axis=0)
    assert (asked[1:-1] > 5).sum() == len(encoded) - np.isin(encoded.token_class, [0, 1]).sum()


def test_nothing_but_unknown_words_stays_as_it_is():
    (encoded,) = Words(tiny_tokenizer(), 64).encode([Example("a", (Sentence("\u4e00\u4e8c"),))])
    found, answers = masked(encoded, tiny_tokenizer(), seed=0)
    assert (answers == IGNORED).all()
    assert np.array_equal(found.inputs["input_ids"], encoded.inputs["input_ids"])


def test_a_tokenizer_without_a_mask_is_refused(inputs: list[Encoded]):
    with pytest.raises(HeadscopeError, match="tokenizer has no mask; name a model that was trained to tell masked"):
        masked(inputs[0], tokenizer_of("gpt2"), seed=0)


def test_an_epoch_has_masks_of_its_own_and_the_first_those_of_evaluation(inputs: list[Encoded]) -> None:
    tokenizer = tiny_tokenizer()

    def chosen(epoch: int, seed: int = 0) -> list[list[int]]:
        return [masked(encoded, tokenizer, seed, Masking(), epoch=epoch)[1].tolist() for encoded in inputs]

    assert chosen(1) == chosen(1)
    assert sum(one != other for one, other in zip(chosen(0), chosen(1), strict=True)) > len(inputs) / 2
    assert sum(one != other for one, other in zip(chosen(1), chosen(1, seed=1), strict=True)) > len(inputs) / 2
    assert chosen(0) == [masked(encoded, tokenizer, 0)[1].tolist() for encoded in inputs]


def test_of_the_chosen_tokens_the_shares_are_masked_random_and_left(inputs: list[Encoded]) -> None:
    tokenizer, counts = tiny_tokenizer(), np.zeros(3)
    for epoch in range(20):
        for encoded in inputs:
            hidden, pieces = masked(encoded, tokenizer, 0, Masking(mask=0.6, random=0.3), epoch=epoch)
            chosen, after = pieces != IGNORED, hidden.inputs["input_ids"]
            assert np.array_equal(after[~chosen], encoded.inputs["input_ids"][~chosen])
            counts += [(after[chosen] == tokenizer.mask_token_id).sum(), (after[chosen] == pieces[chosen]).sum(), 0]
            counts[2] += chosen.sum()
    assert counts[0] / counts[2] == pytest.approx(0.6, abs=0.03)
    assert counts[1] / counts[2] == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    ("shares", "message"),
    [({"share": 0.0}, "mask share 0.0 is out of range"), ({"mask": 0.8, "random": 0.3}, "a sum of at most 1")],
)
def test_shares_out_of_range_are_refused(shares: dict[str, float], message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        Masking(**shares)

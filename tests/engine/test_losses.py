"""The loss of an example, and which of its words are behind a mask."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headscope import HeadscopeError
from headscope.corpora import Options, read
from headscope.encoding.encoded import CLASS, Encoded
from headscope.encoding.encoder import Words
from headscope.engine.losses import IGNORED, MASKED_SHARE, losses, masked
from headscope.types import Example, Sentence
from support.tiny import tiny_tokenizer
from support.trained import tokenizer_of

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(scope="module")
def inputs() -> list[Encoded]:
    return list(Words(tiny_tokenizer(), 64, "truncate").encode(read("sample", Options(limit=60))))


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_of_a_class():
    logits = random(5, 3)
    labels = (0, 2, 1, 1, 0)
    expected = [
        -np.log(np.exp(row[label]) / np.exp(row).sum()) for row, label in zip(logits.tolist(), labels, strict=True)
    ]
    found = losses("classification", logits, torch.tensor([float(label) for label in labels]))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_of_a_score():
    targets = torch.tensor([0.5, -1.0, 3.0])
    expected = [(row[0] - target) ** 2 for row, target in zip(random(3, 1).tolist(), targets.tolist(), strict=True)]
    np.testing.assert_allclose(losses("regression", random(3, 1), targets), expected, rtol=1e-5)


def test_of_masked_words_it_is_the_sum_over_them():
    logits, targets = random(2, 4, 6), torch.tensor([[-100, 5, -100, 0], [-100, -100, 2, -100]])
    expected = [0.0, 0.0]
    for example, token in np.argwhere(targets.numpy() >= 0):
        expected[example] -= float(logits[example, token].log_softmax(-1)[targets[example, token]])
    np.testing.assert_allclose(losses("masked", logits, targets), expected, rtol=1e-5)


def test_low_precision_is_summed_in_float32_and_double_stays_double():
    targets = torch.tensor([1, 0])
    for dtype, expected in {torch.bfloat16: torch.float32, torch.float64: torch.float64}.items():
        assert losses("classification", random(2, 3).to(dtype), targets).dtype == expected


def test_a_share_of_the_words_is_masked_and_asked_for(inputs: list[Encoded]):
    tokenizer = tiny_tokenizer()
    for encoded in inputs:
        found, answers = masked(encoded, tokenizer, seed=0)
        before, after = encoded.inputs["input_ids"], found.inputs["input_ids"]
        asked = answers != IGNORED
        pieces = tokenizer.convert_ids_to_tokens(before.tolist())
        words = sum(piece not in SPECIAL for piece in pieces)
        assert asked.sum() == max(1, round(MASKED_SHARE * words))
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

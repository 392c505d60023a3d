"""Words of scored texts come from the text: also with a tokenizer without a splitter, and in scripts without blanks."""

from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import Unigram
from transformers import BertForMaskedLM, PreTrainedTokenizerBase, PreTrainedTokenizerFast

import headscope
from headscope.corpora.suites.item import sentence
from headscope.outputs.words.predictor import WordPredictor, text_scores
from headscope.outputs.words.word_units import word_units
from support.tiny import tiny_bert, tiny_tokenizer

PIECES = [
    "<pad>",
    "<unk>",
    "<mask>",
    "▁",
    "▁the",
    "▁cat",
    "▁symbol",
    "▁sleep",
    "s",
    "is",
    "ed",
    "▁(",
    ")",
    ".",
    "▁of▁the",
]
LETTERS = "abcdefghijklmnopqrstuvwxyz我喜欢猫，他说。ภาษไทยดีकिताबहै12"


def unsplit(*splitter: Any) -> PreTrainedTokenizerBase:
    """A tokenizer to which a whole text is one word, as Gemma's, or one with splitters before."""
    pieces = [(piece, -1.0) for piece in dict.fromkeys([*PIECES, *LETTERS])]
    backend: Any = Tokenizer(Unigram(pieces, unk_id=1))
    metaspace = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([*splitter, metaspace])
    return PreTrainedTokenizerFast(tokenizer_object=backend, mask_token="<mask>", pad_token="<pad>")


def groups(tokenizer: Any, text: str) -> list[str]:
    """The characters of each word's tokens."""
    encoding = tokenizer(text, add_special_tokens=False).encodings[0]
    units = word_units(text, encoding, torch.arange(len(encoding.ids)).numpy())
    tokens = [[encoding.offsets[at] for at in (units == unit).nonzero()[0]] for unit in range(units.max() + 1)]
    return [text[spans[0][0] : spans[-1][1]] for spans in tokens]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the symbolised cat (sleeps).", ["the", " symbolised", " cat", " (sleeps)."]),
        ("cat of the cats", ["cat", " of the", " cats"]),  # a token of two words
        ("a  b ", ["a", "  b "]),
        ("我喜欢猫，他说。", ["我", "喜欢", "猫，", "他", "说。"]),
        ("ภาษาไทยดี", ["ภาษา", "ไทย", "ดี"]),
        ("किताब है", ["किताब", " है"]),
    ],
)
def test_words_of_a_text_that_the_tokenizer_does_not_split(text: str, expected: list[str]) -> None:
    assert groups(unsplit(), text) == expected


def test_a_tokenizer_splits_signs_and_no_words() -> None:
    bert = tiny_tokenizer()
    text = "It isn't the well-known cat's."
    words = ["It", "isn", "'", "t", "the", "well", "-", "known", "cat", "'", "s", "."]
    assert groups(bert, text) == words  # as minicons takes them
    assert groups(unsplit(pre_tokenizers.Digits(True)), "cat 12") == ["cat", " ", "12"]
    by_letter = pre_tokenizers.Split("ि", "isolated")
    assert groups(unsplit(by_letter), "किताब है") == ["किताब", " है"]


@torch.inference_mode()
def test_scores_of_a_model_whose_tokenizer_does_not_split() -> None:
    tokenizer: Any = unsplit()
    network = tiny_bert(0, BertForMaskedLM, vocab_size=len(tokenizer))
    texts = ["the symbolised cat sleeps.", "cat of symbols."]
    expected = []
    for text in texts:
        encoding, total = tokenizer(text, return_offsets_mapping=True), 0.0
        ids = encoding["input_ids"]
        word = [text[:end].count(" ") for _, end in encoding["offset_mapping"]]
        for at in range(len(ids)):
            read = [
                tokenizer.mask_token_id if other >= at and word[other] == word[at] else ids[other]
                for other in range(len(ids))
            ]
            total += float(network(torch.tensor([read])).logits[0, at].log_softmax(-1)[ids[at]])
        expected.append(total)
    predictor = WordPredictor(headscope.wrap(network, tokenizer))
    assert text_scores(predictor, [*map(sentence, texts)]).values == pytest.approx(expected, abs=1e-4)

"""Tokens as people read them."""

import pytest
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from headscope.encoding.word_tokens import readable_ids, readable_tokens
from support.tiny import tiny_tokenizer


def tokenizer_of(decoder: decoders.Decoder, tokens: list[str]) -> PreTrainedTokenizerBase:
    backend = Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, []))
    backend.decoder = decoder
    return PreTrainedTokenizerFast(tokenizer_object=backend)


BYTE_LEVEL = {
    "Ġcat": "cat",
    "cat": "cat",
    "Ċ": "↵",
    "ĊĊ": "↵↵",
    "ĠĠ": "␣␣",
    "ĉ": "⇥",
    "Ã©": "é",
    "âĢ": "<0xE2><0x80>",
    "âĢĭ": "<U+200B>",
    "<|endoftext|>": "<|endoftext|>",
}
PIECES = {"▁cat": "cat", "s": "s", "▁": "␣", "<0xE2>": "<0xE2>", "<0x0A>": "↵", "</s>": "</s>"}
FALLBACK = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
)


@pytest.mark.parametrize(
    ("decoder", "tokens"), [(decoders.ByteLevel(), BYTE_LEVEL), (FALLBACK, PIECES)], ids=["bytes", "pieces"]
)
def test_tokens_are_read_as_text_and_none_is_invisible(decoder: decoders.Decoder, tokens: dict[str, str]) -> None:
    tokenizer = tokenizer_of(decoder, list(tokens))
    assert dict(zip(tokens, readable_tokens(tokenizer, list(tokens)), strict=True)) == tokens
    assert list(readable_ids(tokenizer, range(len(tokens)))) == list(tokens.values())


def test_every_byte_is_seen() -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    shown = readable_tokens(tokenizer_of(decoders.ByteLevel(), letters), letters)
    assert all(token.strip() and token.isprintable() for token in shown)


def test_pieces_of_bert_stay_as_they_are() -> None:
    tokens = ["[CLS]", "the", "##ing", "."]
    assert readable_tokens(tiny_tokenizer(), tokens) == tuple(tokens)

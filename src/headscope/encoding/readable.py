"""Tokens as people read them: the pieces of a byte-level or SentencePiece tokenizer as text."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

BYTES = {letter: f"<0x{byte:02X}>" for byte, letter in bytes_to_unicode().items()}
SPACES = {" ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥", "▁": "␣"}
NO_CHARACTER = "\ufffd"


def readable_tokens(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[str]) -> tuple[str, ...]:
    """Each token by the tokenizer's own decoding, without spaces around it; none is empty or invisible.

    White space alone is written as a sign, bytes that are no whole character as `<0xE2>`. A continuation of WordPiece
    keeps its `##`.

    >>> from headscope import load
    >>> readable_tokens(load("minilm").tokenizer, ["[CLS]", "un", "##seen"])
    ('[CLS]', 'un', '##seen')
    """
    return tuple(_readable(token, tokenizer.convert_tokens_to_string([token])) for token in tokens)


def readable_ids(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> tuple[str, ...]:
    """The tokens of some numbers; see `readable_tokens`."""
    return readable_tokens(tokenizer, tokenizer.convert_ids_to_tokens(list(ids)))


def _readable(token: str, text: str) -> str:
    """A token, of which `text` is the decoding.

    >>> pairs = ("Ġcat", " cat"), ("Ċ", "\\n"), ("▁", ""), ("âĢ", "\\ufffd"), ("<0xE2>", "\\ufffd")
    >>> [_readable(*pair) for pair in pairs]
    ['cat', '↵', '␣', '<0xE2><0x80>', '<0xE2>']
    """
    if NO_CHARACTER in text:
        in_bytes = all(letter in BYTES for letter in token) and not token.startswith("<0x")
        return "".join(BYTES[letter] for letter in token) if in_bytes else token
    shown = text.strip() or "".join(SPACES.get(letter, letter) for letter in text or token)
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in shown)

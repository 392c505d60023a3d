"""Tokens as people read them, and their words; words of both segments of a pair that are written the same."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from headscope.corpora.parsing.words import words
from headscope.linguistics.sentence import Example, Sentence, starts_of

Span = tuple[int, int]
# The form of a word without a letter or digit, which is no copy of another.
NO_FORM = -1
MOST_WORDS = 1_000


class Tokens:
    """The tokens of one segment of an input."""

    def __init__(self, encoding: Encoding, segment: int):
        numbers = [token for token, of in enumerate(encoding.sequence_ids) if of == segment]
        self.first = numbers[0] if numbers else 0
        offsets = encoding.offsets  # made anew at each access
        self.starts = [offsets[token][0] for token in numbers]
        self.ends = [offsets[token][1] for token in numbers]

    def covering(self, span: Span, base: int) -> range:
        """The tokens that share a character with the span [start, end), counted from `base`."""
        first = bisect_right(self.ends, span[0] + base)
        last = bisect_left(self.starts, span[1] + base)
        return range(self.first + first, self.first + max(first, last))


def located(example: Example, encoding: Encoding) -> Iterator[tuple[Sentence, Tokens, int]]:
    """Each sentence of an example, the tokens of its segment, and where in the segment's text it begins."""
    for number, sentences in enumerate(example.segments):
        tokens = Tokens(encoding, number)
        for sentence, base in zip(sentences, starts_of(sentences), strict=True):
            yield sentence, tokens, base


def with_words(example: Example) -> Example:
    """The example whose sentences have words, also where the corpus does not have them.

    >>> from headscope.linguistics.sentence import Sentence
    >>> with_words(Example("1", (Sentence("It's late."),))).first[0].words
    ((0, 4), (5, 9), (9, 10))
    """
    first, second = (
        tuple(sentence if sentence.words else replace(sentence, words=words(sentence.text)) for sentence in segment)
        for segment in (example.first, example.second)
    )
    return replace(example, first=first, second=second)


def pair_words(example: Example, encoding: Encoding) -> Int[np.ndarray, "row 4"]:
    """Rows (word, form, segment, token) of the words of both segments; none where the example is no pair.

    A pair of more than 1,000 words has none, either: measures compare each of its words with each. Words are those of
    the corpus; where it has none, those of `corpora.parsing.words`. Words with one form differ at most in their case.
    """
    if not example.second:
        return np.empty((0, 4), dtype=np.int64)
    example, rows, number = with_words(example), [], 0
    if example.n_words > MOST_WORDS:
        return np.array(rows, dtype=np.int64).reshape(-1, 4)
    segments = [segment for segment, sentences in enumerate(example.segments) for _ in sentences]
    forms = _forms(example)
    for segment, (sentence, tokens, base) in zip(segments, located(example, encoding), strict=True):
        for span in sentence.words:
            form = forms[number]
            rows += [(number, form, segment, token) for token in tokens.covering(span, base)]
            number += 1
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def copies(example: Example) -> Iterator[tuple[int, int]]:
    """Each word of the first segment with each of its copies in the second, numbered through the example."""
    forms = _forms(example)
    first = sum(len(sentence.words) for sentence in example.first)
    for position, form in enumerate(forms[:first]):
        if form != NO_FORM:
            yield from ((position, other) for other in range(first, len(forms)) if forms[other] == form)


def _forms(example: Example) -> list[int]:
    """A number for each word of an example; words with one number are the same but for their case."""
    forms: dict[str, int] = {}
    texts = [form.casefold() for sentence in example.sentences for form in sentence.forms]
    return [forms.setdefault(text, len(forms)) if any(map(str.isalnum, text)) else NO_FORM for text in texts]


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

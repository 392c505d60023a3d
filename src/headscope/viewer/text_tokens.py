"""A text or a pair of texts as the tokens of a model, and the words that the tokens belong to."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase

from headscope.corpora.parsing.words import words
from headscope.encoding.encoded import Encoded, encoded
from headscope.encoding.word_tokens import readable_tokens
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.limits import MOST_LETTERS

OF_BYTES = re.compile("(<0x[0-9A-F]{2}>)+")
UNREADABLE = 0.25  # of the tokens


@dataclass(frozen=True)
class TextWord:
    """A word and its tokens; `span` is its segment and characters [start, end), None for a token outside of words."""

    text: str
    tokens: tuple[int, ...]
    span: tuple[int, int, int] | None


@dataclass(frozen=True)
class TextTokens:
    """A text as the tokens of a model.

    * `tokens`: as people read them; `raw`: as the tokenizer writes them, of an unknown token ([UNK]) its characters.
    * `segment`: 0 or 1 for each token; `special`: True for tokens that the tokenizer adds.
    * `words`: cover all tokens in order; a special token is a word of its own.
    * `cut`: True if the text was cut to fit.
    """

    encoded: Encoded
    tokens: tuple[str, ...]
    raw: tuple[str, ...]
    segment: tuple[int, ...]
    special: tuple[bool, ...]
    words: tuple[TextWord, ...]
    cut: bool

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def in_bytes(self) -> bool:
        """Whether so many tokens are bytes of a character that only words can be read."""
        plain = [token for token, special in zip(self.tokens, self.special, strict=True) if not special]
        in_bytes = sum(OF_BYTES.fullmatch(token) is not None for token in plain)
        return len(self.words) < len(self) and in_bytes >= UNREADABLE * len(plain)


def text_tokens(
    tokenizer: PreTrainedTokenizerBase, max_tokens: int, first: str, second: str | None = None
) -> TextTokens:
    """A text or a pair of texts as tokens, cut to `max_tokens`.

    Raises `HeadscopeError` for a text that is empty, too long or not valid Unicode.
    """
    segments = [first] if second is None else [first, second]
    for segment in segments:
        _refuse(segment)
    encoding = _encoding(tokenizer, segments)
    cut = len(encoding.ids) > max_tokens
    if cut:
        encoding = _encoding(tokenizer, segments, truncation=True, max_length=max_tokens)
    outside = [
        bool(mark) or of is None for mark, of in zip(encoding.special_tokens_mask, encoding.sequence_ids, strict=True)
    ]
    if all(outside):
        raise HeadscopeError("the text has no token that the model knows; write a sentence")
    example = Example("text", (Sentence(first),), () if second is None else (Sentence(second),))
    pieces = tuple(tokenizer.convert_ids_to_tokens(encoding.ids))
    raw, names = _raw(encoding, segments, pieces, tokenizer.unk_token), readable_tokens(tokenizer, pieces)
    inputs = encoded(0, example, encoding, tokenizer)
    return TextTokens(inputs, names, raw, _segments(encoding), tuple(outside), _words(encoding, segments, names), cut)


def word_pairs(first: TextTokens, second: TextTokens) -> list[tuple[int, int]]:
    """The numbers of the words at the same place in the tokens of two models, in order."""
    numbers = {word.span: number for number, word in enumerate(second.words) if word.span}
    return [
        (number, numbers[word.span]) for number, word in enumerate(first.words) if word.span and word.span in numbers
    ]


def _refuse(text: str) -> None:
    if not text.strip():
        raise HeadscopeError("the text is empty; write a sentence")
    if len(text) > MOST_LETTERS:
        raise HeadscopeError(f"the text has {len(text):,} letters; write at most {MOST_LETTERS:,}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise HeadscopeError(f"the text has half of a character at letter {error.start + 1}; remove it") from error


def _encoding(tokenizer: PreTrainedTokenizerBase, segments: list[str], **options: bool | int) -> Encoding:
    return tokenizer(*segments, verbose=False, **options).encodings[0]  # type: ignore[index]


def _segments(encoding: Encoding) -> tuple[int, ...]:
    """The segment of each token; a special token belongs to the segment before it."""
    segments, current = [], 0
    for segment in encoding.sequence_ids:
        current = current if segment is None else segment
        segments.append(current)
    return tuple(segments)


def _raw(encoding: Encoding, segments: list[str], pieces: Sequence[str], unknown: object) -> tuple[str, ...]:
    """The pieces, with its characters in the place of one that the tokenizer does not know."""
    tokens = zip(pieces, encoding.sequence_ids, encoding.offsets, strict=True)
    return tuple(
        piece if piece != unknown or segment is None else segments[segment][slice(*offsets)] or piece
        for piece, segment, offsets in tokens
    )


def _words(encoding: Encoding, segments: list[str], names: tuple[str, ...]) -> tuple[TextWord, ...]:
    """The words of a text; neighbouring words that share a token are one."""
    spans = [words(text) for text in segments]
    groups: list[tuple[list[int], int | None, range]] = []  # tokens, segment, words of the segment
    for token, (segment, offsets) in enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True)):
        covered = range(0) if segment is None else _covered(spans[segment], *offsets)
        if groups and covered and groups[-1][1] == segment and covered.start < groups[-1][2].stop:
            tokens, _, before = groups.pop()
            groups.append(([*tokens, token], segment, range(before.start, max(before.stop, covered.stop))))
        else:
            groups.append(([token], segment, covered))
    grouped = []
    for tokens, segment, covered in groups:
        if segment is None or not covered:
            grouped.append(TextWord(names[tokens[0]], tuple(tokens), None))
        else:
            start, end = spans[segment][covered[0]][0], spans[segment][covered[-1]][1]
            grouped.append(TextWord(segments[segment][start:end], tuple(tokens), (segment, start, end)))
    return tuple(grouped)


def _covered(spans: Sequence[tuple[int, int]], start: int, end: int) -> range:
    """The words that share a character with [start, end)."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    return range(first, max(first, bisect_left(spans, end, key=lambda span: span[0])))

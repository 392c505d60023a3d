"""The tokens of words: characters of a sentence meet tokens through the tokenizer's offsets."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from tokenizers import Encoding

from headscope.linguistics.sentence import Example, Sentence, starts_of

Span = tuple[int, int]


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

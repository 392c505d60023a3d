"""Encode examples as inputs of a model; those left out or cut are counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase

from headscope.encoding.encoded import Encoded, encoded, special_roles
from headscope.encoding.frequencies import Frequencies
from headscope.linguistics.features import Span
from headscope.linguistics.sentence import Example, number_of, segment_text
from headscope.models.checkpoint import Checkpoint
from headscope.models.loading import load_tokenizer
from headscope.storage.limits import CHARACTERS, TOGETHER

Long = Literal["skip", "truncate", "window"]
# Reasons in `Words.counts` of words alone.
WITHOUT_TOKEN, SHARING = OF_WORDS = ("words without a token", "words that share a token")


@dataclass(frozen=True)
class Words:
    """Turns examples into inputs of a model.

    * `max_tokens`: the longest input; `long`: whether longer ones are left out ("skip"), cut at the end
      ("truncate"), or cut into inputs that follow each other ("window").
    * `counts`: how many examples were `empty`, `long` (left out), `truncated`, or split into `windows`; and the
      `unknown tokens` of those that are read, for characters or words that the vocabulary lacks.
    * `aligned`: whether inputs say which tokens their words have, for measures of attention between words; then
      `counts` also has the `words without a token` of the examples that are read, which the tokenizer drops or that
      are cut off, and the `words that share a token` with another.
    * `by_document`: whether the inputs of a document are resampled together.
    * `frequencies`: of the pieces of the corpus, for measures of attention by frequency; `predicted`: how often the
      model predicts them.
    """

    tokenizer: PreTrainedTokenizerBase
    max_tokens: int
    long: Long = "skip"
    counts: Counter[str] = field(default_factory=Counter)
    aligned: bool = False
    by_document: bool = False
    frequencies: Frequencies | None = None
    predicted: Frequencies | None = None

    @property
    def left_out(self) -> int:
        """The number of examples without an input."""
        return self.counts["empty"] + self.counts["long"]

    def encode(self, examples: Iterable[Example], first: int = 0) -> Iterator[Encoded]:
        """The inputs in the order of the examples, counted from `first`; `counts` has those left out or cut."""
        index = first
        for example, encodings in self.tokenized(examples):
            parts = [self.encoded(number, example, encoding) for number, encoding in enumerate(encodings, index)]
            self._count_unknown(parts)
            self._count_words(parts)
            index += len(parts)
            yield from parts

    def tokenized(self, examples: Iterable[Example]) -> Iterator[tuple[Example, list[Encoding]]]:
        """Each example with the encodings of its inputs, none if it is left out."""
        for group in _groups(examples):
            for example, encoding in zip(group, self._tokenize(group), strict=True):
                yield example, self._fit(example, encoding)

    def encoded(self, index: int, example: Example, encoding: Encoding) -> Encoded:
        """One input of an example; see `encoding.encoded`."""
        input = encoded(index, example, encoding, self.tokenizer, words=self.aligned)
        input = self.frequencies.added_to(input) if self.frequencies else input
        input = self.predicted.added_as_predictions(input) if self.predicted else input
        named = self.by_document and example.document
        return replace(input, document=number_of(example.document)) if named else input

    @cached_property
    def _unknown(self) -> Any:
        """The id of unknown tokens; None where it is that of a token with a role of its own, as in GPT-2."""
        unknown = self.tokenizer.unk_token_id
        return None if unknown in special_roles(self.tokenizer) else unknown

    def _count_unknown(self, parts: list[Encoded]) -> None:
        if self._unknown is not None:
            count = sum(part.inputs["input_ids"].tolist().count(self._unknown) for part in parts)
            self.counts.update({"unknown tokens": count} if count else {})

    def _count_words(self, parts: list[Encoded]) -> None:
        """Count the words of an example that have no token in any of its inputs, and those that share one."""
        if parts and parts[0].example is not None:
            words = {word for part in parts for word in part.pieces[:, 0].tolist()}
            counts = {
                WITHOUT_TOKEN: parts[0].example.n_words - len(words),
                SHARING: sum(_sharing(part.pieces) for part in parts),
            }
            self.counts.update({reason: count for reason, count in counts.items() if count})

    def _tokenize(self, group: list[Example]) -> list[Encoding]:
        """One call for single texts and one for pairs: a pair with an empty text would end in two separators."""
        encodings: dict[int, Encoding] = {}
        for paired in (False, True):
            numbers = [number for number, example in enumerate(group) if bool(example.second) == paired]
            if numbers:
                encodings |= zip(numbers, self._call([group[number] for number in numbers]), strict=True)
        return [encodings[number] for number in range(len(group))]

    def _call(self, group: list[Example], **options: Any) -> list[Encoding]:
        first = [segment_text(example.first) for example in group]
        second = [segment_text(example.second) for example in group] if group[0].second else None
        return self.tokenizer(first, second, verbose=False, **options).encodings or []

    def _fit(self, example: Example, encoding: Encoding) -> list[Encoding]:
        """The encoding itself if it is not too long, else its parts according to `long`; none if it is skipped."""
        if all(encoding.special_tokens_mask):
            self.counts["empty"] += 1
            return []
        if len(encoding.ids) <= self.max_tokens:
            return [encoding]
        parts = self._cut(example, encoding)
        self.counts[{"truncate": "truncated", "window": "windows"}[self.long] if parts else "long"] += 1
        return parts

    def _cut(self, example: Example, encoding: Encoding) -> list[Encoding]:
        if self.long == "skip":
            return []
        side = "only_second" if encoding.sequence_ids.count(1) > encoding.sequence_ids.count(0) else "only_first"
        kept = encoding.sequence_ids.count(0 if side == "only_second" else 1)
        special = sum(encoding.special_tokens_mask)
        if kept + special >= self.max_tokens:
            return []  # the shorter segment alone leaves no room
        cut = {"truncation": side, "max_length": self.max_tokens}
        parts = self._call([example], **cut, return_overflowing_tokens=self.long == "window")
        # a tokenizer that cuts at the left gives the last window first
        return parts[::-1] if self.tokenizer.truncation_side == "left" else parts


def _groups(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Neighbouring examples that are tokenized together; no more begin once there are `CHARACTERS`."""
    group, size = list[Example](), 0
    for example in examples:
        group.append(example)
        size += sum(len(sentence.text) for sentence in example.sentences)
        if len(group) == TOGETHER or size >= CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _sharing(pieces: np.ndarray) -> int:
    """The number of words that share a token with another word."""
    word, token = pieces.T  # [piece_row] each
    shared = np.bincount(token)[token] > 1 if len(token) else []
    return len(set(word[shared].tolist()))


def offsets_of(checkpoint: Checkpoint) -> Callable[[str], list[Span]]:
    """A function from a text to the characters of its pieces; the tokenizer is loaded when it is first called."""
    tokenizer = cache(lambda: load_tokenizer(checkpoint))

    def offsets(text: str) -> list[Span]:
        return tokenizer()(text, add_special_tokens=False, verbose=False, return_offsets_mapping=True)["offset_mapping"]

    return offsets

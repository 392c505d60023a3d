"""From examples to the model's tokens; annotations reach them through the tokenizer's offsets."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, product
from typing import Literal

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase

from headscope.models.checkpoint import Checkpoint
from headscope.models.features import NUMBER, Span, features, links
from headscope.models.load import load_tokenizer
from headscope.results import TOKEN_CLASSES
from headscope.types import Example, segment_text

Long = Literal["skip", "truncate", "window"]
CLASS = {name: number for number, name in enumerate(TOKEN_CLASSES)}
# Fast tokenizers work in parallel within a call.
TOGETHER = 256


@dataclass(frozen=True, slots=True)
class Encoded:
    """An input of the model, without padding.

    * `index`: the number of the input in its corpus, from 0.
    * `inputs`: what the model is called with, each [token].
    * `token_class`: the number of each token's class in `results.TOKEN_CLASSES`.
    * `features`: rows (feature, token); `links`: rows (relation, query token, key token).
    """

    index: int
    inputs: dict[str, Int[np.ndarray, " token"]]
    token_class: Int[np.ndarray, " token"]
    features: Int[np.ndarray, "feature_row 2"]
    links: Int[np.ndarray, "link_row 3"]

    def __len__(self) -> int:
        return len(self.token_class)


@dataclass(frozen=True)
class Words:
    """Turns examples into inputs of a model.

    * `max_tokens`: the longest input; `long`: whether longer ones are left out ("skip"), cut at the end
      ("truncate"), or cut into inputs that follow each other ("window").
    * `counts`: how many examples were `empty`, `long` (left out), `truncated`, or split into `windows`.
    """

    tokenizer: PreTrainedTokenizerBase
    max_tokens: int
    long: Long = "skip"
    counts: Counter[str] = field(default_factory=Counter)

    def encode(self, examples: Iterable[Example]) -> Iterator[Encoded]:
        """The inputs in the order of the examples; what is left out or cut is counted in `counts`."""
        examples, index = iter(examples), 0
        while group := list(islice(examples, TOGETHER)):
            for example, encoding in zip(group, self._tokenize(group), strict=True):
                for part in self._fit(example, encoding):
                    yield encoded(index, example, part, self.tokenizer)
                    index += 1

    def _tokenize(self, group: list[Example]) -> list[Encoding]:
        """One call for the single texts and one for the pairs: a pair with an empty text would end in two separators."""
        encodings: dict[int, Encoding] = {}
        for paired in (False, True):
            numbers = [number for number, example in enumerate(group) if bool(example.second) == paired]
            texts = list(zip(*(_texts(group[number]) for number in numbers), strict=True))
            if numbers:
                encodings |= zip(numbers, self._call(*map(list, texts)), strict=True)
        return [encodings[number] for number in range(len(group))]

    def _call(self, *texts: list[str], **options: object) -> list[Encoding]:
        return self.tokenizer(*texts, verbose=False, **options).encodings

    def _fit(self, example: Example, encoding: Encoding) -> list[Encoding]:
        """The encoding itself if it is not too long, else what `long` makes of it."""
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
        texts = [[text] for text in _texts(example)]
        cut = {"truncation": side, "max_length": self.max_tokens}
        return self._call(*texts, **cut, return_overflowing_tokens=self.long == "window")


def encoded(index: int, example: Example, encoding: Encoding, tokenizer: PreTrainedTokenizerBase) -> Encoded:
    """One input with what each of its tokens is."""
    inputs = {"input_ids": encoding.ids}
    if "token_type_ids" in tokenizer.model_input_names:
        inputs["token_type_ids"] = encoding.type_ids
    token_class = _token_classes(example, encoding, tokenizer)
    specials = [(NUMBER[name], token) for name in ("cls", "sep") for token in np.flatnonzero(token_class == CLASS[name])]
    stops = [(NUMBER["punct"], token) for token in np.flatnonzero(token_class == CLASS["punct"])]
    feature_rows, link_rows = _annotations(example, encoding)
    return Encoded(
        index,
        {name: np.array(values) for name, values in inputs.items()},
        token_class,
        np.array(sorted({*specials, *stops, *feature_rows}), dtype=np.int64).reshape(-1, 2),
        np.array(link_rows, dtype=np.int64).reshape(-1, 3),
    )


def offsets_of(checkpoint: Checkpoint) -> Callable[[str], list[Span]]:
    """A function from a text to the characters of its pieces; the tokenizer is loaded when it is first called."""
    tokenizer = cache(lambda: load_tokenizer(checkpoint))

    def offsets(text: str) -> list[Span]:
        return tokenizer()(text, add_special_tokens=False, verbose=False).encodings[0].offsets

    return offsets


def class_exists(tokenizer: PreTrainedTokenizerBase) -> list[bool]:
    """Which of `results.TOKEN_CLASSES` the tokenizer puts into an input at all."""
    specials = _specials(tokenizer)
    probe = set(tokenizer("a", verbose=False)["input_ids"])
    return [any(token in probe and kind == name for token, kind in specials.items()) for name in ("cls", "sep")] + [True, True]


def _specials(tokenizer: PreTrainedTokenizerBase) -> dict[int, str]:
    """The ids that play the role of [CLS] and [SEP]: also `<s>` and `</s>`, begin and end of a text."""
    last = (tokenizer.sep_token_id, tokenizer.eos_token_id)
    first = (tokenizer.cls_token_id, tokenizer.bos_token_id)
    return {token: "sep" for token in last if token is not None} | {token: "cls" for token in first if token is not None}


def _token_classes(example: Example, encoding: Encoding, tokenizer: PreTrainedTokenizerBase) -> Int[np.ndarray, " token"]:
    specials, texts = _specials(tokenizer), _texts(example)
    classes = []
    for token, segment, (start, end), special in zip(
        encoding.ids, encoding.sequence_ids, encoding.offsets, encoding.special_tokens_mask, strict=True
    ):
        if special:
            classes.append(CLASS[specials.get(token, "other")])
        else:
            stop = end - start < 3 and texts[segment][start:end].strip() in (".", ",")
            classes.append(CLASS["punct" if stop else "other"])
    return np.array(classes)


def _annotations(example: Example, encoding: Encoding) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """The feature rows and link rows of an input."""
    feature_rows, link_rows = [], []
    for number, sentences in enumerate(example.segments):
        tokens = _Tokens(encoding, number)
        base = 0
        for sentence in sentences:
            for feature, span in features(sentence):
                feature_rows += [(feature, token) for token in tokens.covering(span, base)]
            for relation, source, target in links(sentence):
                ends = (tokens.covering(sentence.words[word], base) for word in (source, target))
                link_rows += [(relation, query, key) for query, key in product(*ends)]
            base += len(sentence.text) + 1
    return feature_rows, link_rows


class _Tokens:
    """The tokens of one segment, found by the characters that they cover."""

    def __init__(self, encoding: Encoding, segment: int):
        numbers = [token for token, of in enumerate(encoding.sequence_ids) if of == segment]
        self.first = numbers[0] if numbers else 0
        self.starts = [encoding.offsets[token][0] for token in numbers]
        self.ends = [encoding.offsets[token][1] for token in numbers]

    def covering(self, span: Span, base: int) -> range:
        """The tokens that share a character with the span [start, end), counted from `base`."""
        first = bisect_right(self.ends, span[0] + base)
        last = bisect_left(self.starts, span[1] + base)
        return range(self.first + first, self.first + max(first, last))


def _texts(example: Example) -> list[str]:
    return [segment_text(sentences) for sentences in example.segments]

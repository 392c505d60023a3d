"""Inputs of random tokens: repeated sequences, sequences without a repetition, and texts with a planted pair.

Tokens are those of the model's own vocabulary, without special, added and unused ones, drawn by a seed. An input has
links (relation, query, key) between its tokens, whose attention is read.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.encoding.encoded import CLASS, Encoded, special_roles
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.segment_ids import NAME
from headscope.studies.heads.induction.relations import Links, places_of, previous_links, repeat_links

UNUSED = re.compile(r"\[unused\d+\]")
LEAST = 3
Tokens = Int[np.ndarray, " token"]
# The most tokens where no lengths are named: by default, and with `--full`.
SHORTEST, LONGEST, COMPLETE = 8, 128, 512


@dataclass(frozen=True)
class Maker:
    """Makes inputs for a model, by a seed.

    * `tokens`: the vocabulary that is drawn from.
    * `before`, `after`: the special tokens around a text.
    * `segments`: the segment ids of the tokens before a text, of its own, and of those after it.
    """

    model: Model
    seed: int
    tokens: Tokens
    before: list[int]
    after: list[int]
    segments: tuple[list[int], int, list[int]]

    @property
    def room(self) -> int:
        """The most tokens of a text, special tokens left out."""
        return self.model.max_tokens - len(self.before) - len(self.after)

    def copy_length(self, wanted: int, repeats: int) -> int:
        """The length of a sequence that fits into the model, and into its vocabulary, this many times.

        Raises `HeadscopeError` where that is too short to repeat.
        """
        length = min(wanted, self.room // repeats, len(self.tokens) // repeats)
        if length < LEAST:
            raise HeadscopeError(
                f"model '{self.model.name}': {repeats} copies of {LEAST} tokens do not fit into {self.room} tokens "
                f"and a vocabulary of {len(self.tokens):,}; use fewer --repeats"
            )
        return length

    def repeated(self, sequences: int, length: int, repeats: int) -> tuple[Encoded, ...]:
        """Sequences of different tokens, each several times over.

        A later copy has links to the token after each earlier copy of its token, and to these copies.
        """
        links = repeat_links(length, repeats)
        return tuple(self._input(np.tile(self._drawn(n, length), repeats), links, n) for n in range(sequences))

    def fresh(self, sequences: int, length: int, repeats: int) -> tuple[Encoded, ...]:
        """Sequences of distinct tokens, as long as those of `repeated` and with their links."""
        links, previous = repeat_links(length, repeats), previous_links(length * repeats)
        links = np.concatenate([links, previous])
        return tuple(self._input(self._drawn(n, length * repeats), links, n) for n in range(sequences))

    def planted(self, sequences: int, context: int, first: int) -> tuple[Encoded, ...]:
        """Texts of random tokens with a pair, whose first token stands again at the end, one for each depth.

        The link of relation `first` + number of the depth goes from the last token to the second of the pair.
        """
        inputs = []
        for number in range(sequences):
            key, value, text = self._pair(number, context)
            for depth, position in enumerate(places_of(context)):
                planted = text.copy()
                planted[[position, position + 1, -1]] = key, value, key
                inputs.append(self._input(planted, np.array([[first + depth, context - 1, position + 1]]), number))
        return tuple(inputs)

    def unplanted(self, sequences: int, context: int, first: int) -> tuple[Encoded, ...]:
        """The same texts without the pair, with the links of all depths."""
        links = np.array([[first + depth, context - 1, at + 1] for depth, at in enumerate(places_of(context))])
        inputs = []
        for number in range(sequences):
            key, _, text = self._pair(number, context)
            text[-1] = key
            inputs.append(self._input(text, links, number))
        return tuple(inputs)

    def some(self, number: int) -> Tokens:
        """This many tokens of the vocabulary, or all."""
        return np.random.default_rng(self.seed).permutation(self.tokens)[:number]

    def _pair(self, number: int, context: int) -> tuple[int, int, Tokens]:
        """Two tokens, and a text without them."""
        random = np.random.default_rng((self.seed, number, context))
        key, value = random.choice(self.tokens, 2, replace=False)
        others = self.tokens[~np.isin(self.tokens, (key, value))]
        return int(key), int(value), random.choice(others, context, replace=context > len(others))

    def _drawn(self, number: int, length: int) -> Tokens:
        """This many tokens of the vocabulary, the first in an order of a sequence's own."""
        return np.random.default_rng((self.seed, number)).permutation(self.tokens)[:length]

    def _input(self, text: Tokens, links: Links, unit: int) -> Encoded:
        tokenizer, first = self.model.tokenizer, len(self.before)
        ids = np.array([*self.before, *text.tolist(), *self.after], dtype=np.int64)
        inputs = {"input_ids": ids}
        if NAME in tokenizer.model_input_names:
            start, middle, end = self.segments
            inputs[NAME] = np.array([*start, *[middle] * len(text), *end], dtype=np.int64)
        roles, classes = special_roles(tokenizer), np.full(len(ids), CLASS["other"])
        for position in (*range(first), *range(first + len(text), len(ids))):
            classes[position] = CLASS[roles.get(int(ids[position]), "other")]
        return Encoded(
            unit, inputs, classes, np.empty((0, 2), np.int64), links + np.array([0, first, first]), document=unit
        )


def maker(model: Model, seed: int) -> Maker:
    """The maker of inputs for a model.

    >>> from headscope import load
    >>> made = maker(load("minilm"), 0).repeated(1, 4, 2)[0].inputs["input_ids"].tolist()
    >>> made[0], made[1:5] == made[5:9], made[9]
    (101, True, 102)
    """
    tokenizer: Any = model.tokenizer
    inputs: Any = model.network.get_input_embeddings()
    special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    vocabulary = {token: piece for piece, token in tokenizer.get_vocab().items() if token not in special}
    tokens = sorted(
        token for token, piece in vocabulary.items() if token < len(inputs.weight) and not UNUSED.fullmatch(piece)
    )
    encoding = tokenizer("a", verbose=False).encodings[0]
    kept = [position for position, special in enumerate(encoding.special_tokens_mask) if not special]
    before, after, types = slice(kept[0]), slice(kept[-1] + 1, None), encoding.type_ids
    segments = types[before], types[kept[0]], types[after]
    return Maker(model, seed, np.array(tokens), encoding.ids[before], encoding.ids[after], segments)


def text_lengths(written: str, room: int, on_notice: Callable[[str], None], *, full: bool = False) -> list[int]:
    """The lengths of texts with a planted pair, in tokens, in ascending order.

    * `written`: as 128,512; "" for a quarter and all of what fits, up to `LONGEST`, or up to `COMPLETE` if `full`.
    * `room`: the most tokens of a text; `on_notice`: called with a line where `full` takes longer texts.

    Raises `HeadscopeError` for a length that is no number, or that does not fit into the model.

    >>> text_lengths("", 510, print, full=True), text_lengths("60,20", 510, print)
    ([127, 510], [20, 60])
    >>> text_lengths("", 510, print)
    texts with a planted pair have at most 128 tokens; --full has some of 510, in some 4 times the time
    [32, 128]
    """
    if written:
        return sorted({_length(word.strip(), room) for word in written.split(",")})
    most, longest = (min(room, length) for length in (COMPLETE if full else LONGEST, COMPLETE))
    if most < longest:
        on_notice(
            f"texts with a planted pair have at most {most} tokens; --full has some of {longest}, in some "
            f"{longest / most:.0f} times the time"
        )
    return sorted({max(SHORTEST, most // 4), max(SHORTEST, most)})


def _length(word: str, room: int) -> int:
    if not word.isdecimal() or not SHORTEST <= int(word) <= room:
        raise HeadscopeError(f"contexts '{word}' is no length from {SHORTEST} to {room} tokens")
    return int(word)

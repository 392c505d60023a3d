"""Ways to pre-train, by their names in `--ways`: what each changes, and nothing else.

All read the same inputs, two parts of a text that follow each other, and all but `next-word` predict masked tokens: 40%
(Wettig et al. 2022), of which 80% become [MASK], 10% a random piece, and 10% stay (Devlin et al. 2019, section 3.1).
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from transformers import PreTrainedTokenizerBase

from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import Choose, Masking, Numbers, single_tokens
from headscope.studies.training.pretrain.blocks import TextBlock
from headscope.studies.training.pretrain.pairs import PairTrainingSet, Second, another_text, as_it_is, turned_round
from headscope.studies.training.pretrain.permutation import PermutedTrainingSet
from headscope.training.dataset import MaskedTrainingSet

# Joshi et al. 2020, section 3.1: lengths of spans in words, of a geometric distribution that is cut.
SPAN_P, LONGEST_SPAN = 0.2, 10

Tokens = Int[np.ndarray, " token"]


def whole_words(encoded: Encoded, allowed: Tokens, number: int, random: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Tokens of whole words, word by word in random order, until there are enough."""
    words = words_of(encoded, allowed)
    order = (words[word] for word in random.permutation(len(words)))
    chosen: list[int] = []
    while len(chosen) < number:
        chosen += next(order).tolist()
    return np.array(chosen, dtype=np.int64), np.arange(len(chosen))


def spans(encoded: Encoded, allowed: Tokens, number: int, random: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Spans of neighbouring words, until there are enough; the tokens of a span share their fate."""
    words, chosen, group = words_of(encoded, allowed), list[int](), list[int]()
    while len(chosen) < number:
        start, length = int(random.integers(len(words))), min(random.geometric(SPAN_P), LONGEST_SPAN)
        inside = [token for word in words[start : start + length] for token in word.tolist() if token not in chosen]
        inside = inside[: number - len(chosen)]
        group += [len(chosen)] * len(inside)
        chosen += inside
    return np.array(chosen, dtype=np.int64), np.array(group, dtype=np.int64)


def words_of(encoded: Encoded, allowed: Tokens) -> list[Tokens]:
    """The tokens of each word, in order; of a word that is special or unknown none."""
    word, token = encoded.pieces[np.isin(encoded.pieces[:, 1], allowed)].T
    return np.split(token, np.flatnonzero(np.diff(word)) + 1)


@dataclass(frozen=True)
class PretrainingWay:
    """What a way changes, in words.

    * `choose`: which tokens are masked together, of what `unit`; `static`: whether the masks of the first epoch stay.
    * `hidden_by`: the special token that takes the place of masked tokens.
    * `seconds`: what may stand in the place of the second part, equally often, which the state of [CLS] must tell.
    * `labels`: whether the label of the text stands in the place of segments.
    * `causal`: whether tokens see none that follow, and the next one is predicted.
    * `kind`: what makes batches of the inputs, if there are no `seconds`.
    """

    change: str
    choose: Choose = single_tokens
    unit: str = "word"
    static: bool = False
    hidden_by: str = "mask"
    seconds: tuple[Second, ...] = ()
    causal: bool = False
    labels: bool = False
    kind: type[MaskedTrainingSet] = MaskedTrainingSet

    def tokenizer(self, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
        """A copy of a tokenizer with the mask of the way."""
        copied = deepcopy(tokenizer)
        copied.mask_token = getattr(tokenizer, f"{self.hidden_by}_token")
        return copied

    def training_set(
        self, blocks: Sequence[TextBlock], tokenizer: PreTrainedTokenizerBase, masking: Masking, seed: int
    ) -> MaskedTrainingSet:
        """The blocks as inputs, with the objective of the way; `seed` is that of the masks."""
        inputs = [
            block.encoded(index, tokenizer, unit=self.unit, labels=self.labels) for index, block in enumerate(blocks)
        ]
        arguments = (inputs, self.tokenizer(tokenizer), masking, seed, self.causal, self.choose, self.static)
        return PairTrainingSet(*arguments, blocks, self.seconds) if self.seconds else self.kind(*arguments)


WAYS = {
    "tokens": PretrainingWay("masks are new in each epoch"),
    "static": PretrainingWay("masks are drawn once", static=True),
    "words": PretrainingWay("whole words are masked", whole_words),
    "spans": PretrainingWay("spans of words are masked", spans),
    "phrases": PretrainingWay("noun phrases are masked whole, and other words", whole_words, "phrase"),
    "entities": PretrainingWay("named entities are masked whole, and other words", whole_words, "entity"),
    "unk": PretrainingWay("[UNK] takes the place of [MASK]", hidden_by="unk"),
    "next-sentence": PretrainingWay(
        "the second part is of another text in half of the inputs", seconds=(as_it_is, another_text)
    ),
    "sentence-order": PretrainingWay(
        "both parts are turned round in half of the inputs", seconds=(as_it_is, turned_round)
    ),
    "previous-and-next": PretrainingWay(
        "the second part follows, precedes or is of another text", seconds=(as_it_is, turned_round, another_text)
    ),
    "labels": PretrainingWay("the label of the text stands in the place of segments", labels=True),
    "permutation": PretrainingWay("tokens are predicted in a random order", kind=PermutedTrainingSet),
    "next-word": PretrainingWay("tokens see what stands before, and the next one is predicted", causal=True),
}

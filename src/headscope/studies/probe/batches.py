"""Sentences with their attention in padded batches, for parsers."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.encoding.parsed_sentences import UNKNOWN
from headscope.encoding.word_attention import SPECIAL
from headscope.passes.captured_treebanks import SentenceArrays
from headscope.studies.probe.lexicon import NONE, Lexicon

# Most pairs of tokens of a batch: with 144 features a batch is then of 36 MB.
CELLS = 1 << 16


@dataclass(frozen=True)
class Treebank(SentenceArrays):
    """Sentences, and the attention between the tokens of each, [token, token, head]."""

    LIMIT, ADDED = CELLS, SPECIAL

    @property
    def features(self) -> int:
        """The features of a pair of tokens: each head's attention, in both directions."""
        return 2 * self.arrays[0].shape[-1]


@dataclass(frozen=True)
class Padded:
    """A batch of sentences.

    * `numbers`: of the sentences in their treebank.
    * `attention`: from each token to each, then back; [CLS] and [SEP] come first.
    * `rows`: of the words in the lexicon.
    * `lengths`: of the sentences, in words.
    * `heads`: of each word, 0 for ROOT; `UNKNOWN` for padding too.
    * `candidates`: the possible heads of a word: ROOT, and every other word.
    """

    numbers: list[int]
    attention: Float[Tensor, "sentence token token feature"]
    rows: Int[Tensor, "sentence token"]
    lengths: Int[Tensor, " sentence"]
    heads: Int[Tensor, "sentence word"]
    candidates: Bool[Tensor, "sentence word candidate"]


def padded(treebank: Treebank, lexicon: Lexicon, numbers: list[int], device: torch.device) -> Padded:
    """One batch of sentences."""
    sentences = [treebank.sentences[number] for number in numbers]
    words = max(map(len, sentences))
    attention = torch.zeros(len(numbers), words + SPECIAL, words + SPECIAL, treebank.features)
    rows = torch.full((len(numbers), words + SPECIAL), NONE)
    heads = torch.full((len(numbers), words), UNKNOWN)
    for place, (number, sentence) in enumerate(zip(numbers, sentences, strict=True)):
        between, length = treebank.arrays[number], len(sentence)
        size, half = length + SPECIAL, treebank.features // 2
        attention[place, :size, :size, :half] = between
        attention[place, :size, :size, half:] = between.transpose(0, 1)  # [token, token, head]
        rows[place, SPECIAL:size] = torch.from_numpy(lexicon.rows(sentence))
        heads[place, :length] = torch.from_numpy(sentence.heads)
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    real = torch.arange(words + 1) <= lengths[:, None]
    itself = torch.eye(words, words + 1, dtype=torch.bool).roll(1, dims=1)
    candidates = real[:, None] & ~itself
    return Padded(numbers, *(each.to(device) for each in (attention, rows, lengths, heads, candidates)))

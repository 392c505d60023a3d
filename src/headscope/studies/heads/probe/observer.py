"""Attention between the words of each sentence of a treebank, and padded batches of such sentences."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Float16, Int
from torch import Tensor

from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import SPECIAL, WordAttention
from headscope.encoding.encoder import Words
from headscope.encoding.parsed_sentences import UNKNOWN, Parsed, sentences_of
from headscope.models import Model
from headscope.passes.captured_treebanks import SentenceArrays, TreebankPass
from headscope.passes.forward import Forward
from headscope.passes.kept_arrays import ArrayPass
from headscope.passes.observing import RowsObserver
from headscope.passes.passes import Pass
from headscope.passes.settings import Settings
from headscope.studies.heads.probe.word_vectors import NONE, Lexicon

# Most pairs of tokens of a batch: with 144 features a batch is then of 36 MB.
CELLS = 1 << 16


class TreebankObserver(RowsObserver):
    """An observer of the sentences of a batch and of the attention between their words.

    `counts`: of sentences and words that cannot be parsed, see `parsed_sentences.parsed`.
    """

    def __init__(self, counts: Counter[str] | None = None):
        self.counts = Counter() if counts is None else counts

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch, self.attention = batch, WordAttention(batch, torch.float16)

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`."""
        self.attention.add(layer, rows)

    def finish(self) -> tuple[list[Parsed], list[Float16[np.ndarray, "word word head"]]]:
        """Return the sentences of the batch, and their attention; [CLS] and [SEP] come before the words."""
        attention = self.attention.joined()
        sentences, maps = list(sentences_of(self.batch, self.counts)), []
        for row, sentence in sentences:
            kept = torch.cat([torch.arange(SPECIAL), torch.from_numpy(sentence.words) + SPECIAL])
            between = attention[row].index_select(1, kept).index_select(2, kept)
            # [word, word, head]
            maps.append(between.permute(1, 2, 0).contiguous().numpy())
        return [sentence for _, sentence in sentences], maps


def attention_pass(model: Model, settings: Settings, corpus: Corpus) -> TreebankPass:
    """The pass of a model over a treebank, whose attention is kept.

    Raises `HeadscopeError` if a corpus has no dependency trees.
    """
    require_trees(corpus)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    inputs = Pass(model, corpus, replace(settings, keep_interrupted=False), words)
    forward = Forward(model, TreebankObserver(words.counts))
    return ArrayPass(inputs, forward.observe, list[Parsed], forward)


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
    for row, (number, sentence) in enumerate(zip(numbers, sentences, strict=True)):
        between, length = treebank.arrays[number], len(sentence)
        size, half = length + SPECIAL, treebank.features // 2
        attention[row, :size, :size, :half] = between
        attention[row, :size, :size, half:] = between.transpose(0, 1)  # [token, token, head]
        rows[row, SPECIAL:size] = torch.from_numpy(lexicon.rows(sentence))
        heads[row, :length] = torch.from_numpy(sentence.heads)
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    real = torch.arange(words + 1) <= lengths[:, None]
    itself = torch.eye(words, words + 1, dtype=torch.bool).roll(1, dims=1)
    candidates = real[:, None] & ~itself
    return Padded(numbers, *(tensor.to(device) for tensor in (attention, rows, lengths, heads, candidates)))

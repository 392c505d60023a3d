"""Attention between the words of each sentence of a treebank, and that from and to [CLS] and [SEP]."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Float16

from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoder import Words
from headscope.encoding.parsed_sentences import Parsed, sentences_of
from headscope.encoding.word_attention import SPECIAL, WordAttention
from headscope.models import Model
from headscope.passes.captured_treebanks import Read
from headscope.passes.forward import Forward
from headscope.passes.kept_arrays import ArrayStore
from headscope.passes.observing import RowsObserver
from headscope.passes.passes import Attributes, Pass
from headscope.passes.settings import Settings


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
        whole = self.attention.whole()
        sentences, maps = list(sentences_of(self.batch, self.counts)), []
        for row, sentence in sentences:
            kept = torch.cat([torch.arange(SPECIAL), torch.from_numpy(sentence.words) + SPECIAL])
            between = whole[row].index_select(1, kept).index_select(2, kept)
            # [word, word, head]
            maps.append(between.permute(1, 2, 0).contiguous().numpy())
        return [sentence for _, sentence in sentences], maps


def attention_reader(model: Model, settings: Settings) -> Read:
    """One pass of a model over a treebank, whose attention goes to the store.

    Raises `HeadscopeError` if a corpus has no dependency trees or no example that fits into the model.
    """
    return partial(_read, model, settings)


def _read(model: Model, settings: Settings, corpus: Corpus, store: ArrayStore) -> tuple[list[Parsed], Attributes]:
    require_trees(corpus)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    run = Pass(model, corpus, replace(settings, keep_interrupted=False), words)
    forward = Forward(model, TreebankObserver(words.counts))
    result = store.gather(run, forward.observe, list[Parsed], forward)
    return [sentence for sentences in result.value for sentence in sentences], result.attributes

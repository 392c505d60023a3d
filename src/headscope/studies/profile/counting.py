"""Counts the pieces of a corpus before its attention is read: only the tokenizer runs."""

from collections import Counter

import numpy as np

from headscope.corpora import Corpus
from headscope.encoding.encoded import token_classes
from headscope.encoding.encoder import Words
from headscope.encoding.frequencies import Frequencies, counted
from headscope.models import Model
from headscope.passes.settings import Settings


def frequencies_of(model: Model, corpus: Corpus, settings: Settings) -> Frequencies:
    """How often each piece stands in a corpus as a model reads it; Ctrl-C here leaves nothing to keep."""
    words, counts = Words(model.tokenizer, model.max_tokens, settings.long), Counter[int]()
    for example, encodings in words.tokenized(corpus):
        for encoding in encodings:
            known = counted(token_classes(example, encoding, model.tokenizer))
            counts.update(np.array(encoding.ids)[known].tolist())
    by_piece = np.zeros(max(counts, default=0) + 1, dtype=np.int64)
    by_piece[list(counts)] = list(counts.values())
    return Frequencies(by_piece, causal=not model.looks_ahead)

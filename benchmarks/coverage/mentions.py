"""Numbers of mentions: whether each head finds their antecedents."""

from functools import partial

import numpy as np
from benchmarks.coverage.numbers import Numbers, Sums, from_zero

from headscope import Corpus, Model, Settings
from headscope.encoding.encoder import Words
from headscope.models.tokenizer import piece_counts
from headscope.passes.passes import Pass
from headscope.studies.heads.coreference.observer import MentionObserver
from headscope.studies.heads.coreference.scores import AntecedentPredictions
from headscope.studies.heads.coreference.segments import plan

TOKENS = 128


def coreference(model: Model, corpus: Corpus) -> Numbers:
    """Accuracies of all heads; a row is a mention."""
    room = min(TOKENS, model.max_tokens) - model.tokenizer.num_special_tokens_to_add()
    planned = plan(corpus, partial(piece_counts, model.tokenizer), room, "segments", True)
    words = Words(model.tokenizer, TOKENS, aligned=True)
    found = AntecedentPredictions.in_order(
        Pass(model, planned.inputs, Settings(), words).gather(MentionObserver(planned.cases)).read().value
    )
    found = found[found.answerable]
    right = found.unpacked(sum(model.capture.heads)).astype(float)
    sums = Sums(right, np.ones(len(found), dtype=np.int64), share=True)
    return Numbers(from_zero(found.unit), {"coreference: accuracy": sums})

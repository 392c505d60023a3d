"""What a model answers: the outputs of its task head for each example, in the order of the corpus."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headscope.capture.fused_attention import fast
from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.engine.batches import by_length, collator
from headscope.engine.settings import DEFAULTS, Settings
from headscope.errors import HeadscopeError
from headscope.models import Model


def inputs_of(model: Model, corpus: Corpus, max_tokens: int | None = None) -> tuple[list[Encoded], Counter[str]]:
    """Each example as one input, cut to `max_tokens` (at most the model's own limit), and how many were cut.

    Raises `HeadscopeError` if an example cannot be cut: a task's score is over all of its examples.
    """
    limit = min(max_tokens or model.max_tokens, model.max_tokens)
    words = Words(model.tokenizer, limit, "truncate")
    inputs = list(words.encode(corpus))
    if len(inputs) != corpus.n_examples:
        why = ", ".join(f"{count} {reason}" for reason, count in words.counts.items())
        raise HeadscopeError(
            f"corpus '{corpus.name}': {corpus.n_examples - len(inputs)} of {corpus.n_examples} examples do not fit "
            f"into {limit} tokens ({why}); shorten them or allow more tokens"
        )
    return inputs, words.counts


def outputs(
    model: Model, inputs: Iterable[Encoded], settings: Settings = DEFAULTS
) -> Float[np.ndarray, "example output"]:
    """The logits of a model's task head, by a plain forward pass."""
    collate = collator(model)
    found: dict[int, np.ndarray] = {}
    with torch.inference_mode(), fast(model.network):
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            batch = collate(group)
            answer: Any = model.network(**batch.inputs)
            logits = answer.logits.to(torch.float32).cpu().numpy()
            found |= zip(batch.index.tolist(), logits, strict=True)
            settings.on_progress(len(group))
    return np.stack([found[index] for index in sorted(found)])

"""The speed of this machine, from the first batches of a corpus."""

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from headscope.front.cli.compute import ready_inputs
from headscope.front.cli.saved_command import parsed
from headscope.front.survey.costs import FORWARD, shape_of

EXAMPLES = 48


def speed_of(study: str, words: Sequence[str]) -> float:
    """Seconds that a second of the estimates takes here: forward passes over a few examples, after as many others.

    * `words`: those of the command of a study, whose model and first corpus are read.
    """
    from headscope.encoding.encoder import Words
    from headscope.passes.batches import by_length
    from headscope.passes.forward import Forward

    ready = ready_inputs(study, parsed(study, list(words))[1])
    model, corpus = ready["model"], ready["corpora"][0] if "corpora" in ready else ready["corpus"]
    inputs = Words(model.tokenizer, model.max_tokens, "truncate").encode(islice(corpus, EXAMPLES))
    groups, forward = list(by_length(inputs, 512)), Forward[Any](model)
    seconds, tokens = 0.0, 0
    for group in groups:  # the first ones warm up
        before = time.monotonic()
        forward.states(group)
        seconds, tokens = (seconds + time.monotonic() - before, tokens + sum(map(len, group))) if tokens else (0.0, 1)
    shape = shape_of(model.network.config.to_dict())
    return seconds / max(1, tokens - 1) * 1000 / (FORWARD * shape.size) or 1.0

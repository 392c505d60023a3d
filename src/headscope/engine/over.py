"""A pass over a corpus and what is to be said of it: what was read, cut and left out, and if it was interrupted."""

import json
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.engine.coverage import Coverage
from headscope.engine.fold import Interrupted
from headscope.engine.settings import Settings
from headscope.errors import HeadscopeError

Done = Callable[[list[Encoded]], None]
Found = TypeVar("Found")


def over(
    corpus: Corpus, words: Words, settings: Settings, pass_: Callable[[Iterable[Encoded], Done], Found]
) -> tuple[Found, Coverage, dict[str, str | int | float]]:
    """What `pass_(inputs, done)` gives (tallies), what it has read, and the attributes that say so.

    Raises `HeadscopeError` if no example fits into the model.
    """
    coverage, started = Coverage(), time.monotonic()
    interrupted: dict[str, str] = {}

    def done(group: list[Encoded]) -> None:
        coverage.add(group)
        settings.progress(len(group))

    try:
        tallies = pass_(words.encode(corpus), done)
    except Interrupted as stop:
        if not (settings.keep_interrupted and stop.tallies):
            raise
        tallies = stop.tallies
        interrupted = {"interrupted": f"after {coverage.inputs} of {corpus.n_examples} examples"}
    if not coverage.inputs:
        remedy = "--long truncate or --long window" if settings.long == "skip" else "shorter texts"
        raise HeadscopeError(
            f"corpus '{corpus.name}': none of its {corpus.n_examples} examples fits into {words.max_tokens} tokens; "
            f"use {remedy}"
        )
    read = {
        "n_examples": coverage.inputs,
        "n_tokens": coverage.tokens,
        "skipped": json.dumps(corpus.skipped | words.counts),
        "duration_s": round(time.monotonic() - started, 3),
    }
    return tallies, coverage, interrupted | read

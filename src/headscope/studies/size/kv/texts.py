"""The long texts of a corpus as pieces, and the same texts with a planted needle."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import numpy as np

from headscope.corpora import Corpus
from headscope.corpora.suites import Candidate
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import segment_text
from headscope.models import Model
from headscope.outputs.words.inputs import ScoredPieces, scored_pieces

NEEDLE = 5  # random tokens, of which all but the first are predicted
# No token stands for more characters on average over a text.
CHARACTERS = 16


def long_texts(
    model: Model, corpus: Corpus, length: int, least: int, most: int
) -> tuple[list[ScoredPieces], Counter[str]]:
    """The first `most` documents of at least `least` tokens, cut at `length`; how many were `short` or `cut`.

    Raises `HeadscopeError` if there is none.
    """
    texts, counts = list[ScoredPieces](), Counter[str]()
    for text in _documents(corpus, CHARACTERS * length):
        (pieces,) = scored_pieces(model, [Candidate(text, 0, len(text))], plain=True)
        if len(pieces.ids) < least:
            counts["short"] += 1
            continue
        counts["cut"] += len(pieces.ids) > length
        places = pieces.places[pieces.places < length]
        texts.append(ScoredPieces(pieces.ids[:length], places, places, pieces.segments[:length]))
        if len(texts) == most:
            break
    if not texts:
        raise HeadscopeError(
            f"corpus '{corpus.name}': none of its {counts['short']:,} texts has {least} tokens, so that nothing lies "
            "beyond the first tokens and the window; name longer texts, or use a smaller --window"
        )
    return texts, +counts


def _documents(corpus: Corpus, characters: int) -> Iterator[str]:
    """The beginning of each document of a corpus, a line for each example; an example without a document is one."""
    for _, examples in groupby(enumerate(corpus), key=lambda pair: pair[1].document or pair[0]):
        lines = list[str]()
        for _, example in examples:
            if sum(map(len, lines)) < characters:
                lines += map(segment_text, example.segments)
        yield "\n".join(lines)[:characters]


def planted(texts: list[ScoredPieces], sinks: int, window: int, seed: int) -> list[ScoredPieces]:
    """The texts with `NEEDLE` of their tokens, drawn at random, planted far back and again at the end.

    All but the first of those at the end are scored. Where they are read, those far back are beyond the window.
    """
    tokens = np.unique(np.concatenate([text.ids[text.places] for text in texts]))
    needles = []
    for number, text in enumerate(texts):
        random, ids = np.random.default_rng((seed, number)), text.ids.copy()
        end = len(ids) - NEEDLE
        start = int(random.integers(max(sinks, 1), end - window - NEEDLE + 1, endpoint=True))
        ids[start : start + NEEDLE] = ids[end:] = random.choice(tokens, NEEDLE, replace=len(tokens) < NEEDLE)
        places = np.arange(end + 1, len(ids))
        needles.append(ScoredPieces(ids, places, places, text.segments))
    return needles

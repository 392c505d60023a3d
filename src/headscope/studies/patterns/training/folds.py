"""Which labelled maps a classifier learns from: all maps of one text are on one side.

A text's fold follows from the text alone, so that a larger collection of maps never moves a text to the other side.
"""

import hashlib

from headscope.studies.patterns.labels.labelled_maps import Map

FOLDS, HELD_OUT = 6, 4


def text(map_: Map) -> str:
    """A short name of the map's text: the start of its tokens' sha256."""
    return hashlib.sha256(" ".join(map_.tokens).encode()).hexdigest()[:12]


def fold(map_: Map) -> int:
    """The number of the fold that the map's text is in, from 0 to `FOLDS`; that of `HELD_OUT` is never learnt from."""
    return int(text(map_), 16) % FOLDS

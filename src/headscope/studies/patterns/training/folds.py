"""Folds of labelled maps, in which all maps of one text are on one side, and the two parts that maps come in.

A text's fold follows from the text alone, so that a larger collection of maps never moves a text to the other side.
"""

import hashlib

from headscope.studies.patterns.labels.labelled_maps import Map

FOLDS, HELD_OUT = 6, 4
# Maps with smaller ids are random maps of a model; those from here on were chosen where a classifier hesitates.
FIRST_BOUNDARY_ID = 1000


def text(map_: Map) -> str:
    """A short name of the map's text: the start of its tokens' sha256."""
    return hashlib.sha256(" ".join(map_.tokens).encode()).hexdigest()[:12]


def fold(map_: Map) -> int:
    """The number of the fold of the map's text, from 0; the classifier never learns from the fold `HELD_OUT`."""
    return int(text(map_), 16) % FOLDS


def is_boundary(map_: Map) -> bool:
    """True for a map chosen at the boundary of two patterns, so that the mixture of patterns is not natural."""
    return map_.id >= FIRST_BOUNDARY_ID

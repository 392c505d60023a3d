"""Labelled results: the words of a result, its check, and saving it as netCDF."""

from headscope.results.files import (
    attributes_of,
    check,
    in_series,
    joined,
    means,
    read,
    records,
    save,
    tidy,
    with_interval,
)
from headscope.results.vocabulary import (
    ATTRIBUTES,
    BOUNDS,
    DIRECTIONS,
    FEATURES,
    OFFSETS,
    PATTERNS,
    RELATIONS,
    TOKEN_CLASSES,
)

__all__ = [
    "ATTRIBUTES",
    "BOUNDS",
    "DIRECTIONS",
    "FEATURES",
    "OFFSETS",
    "PATTERNS",
    "RELATIONS",
    "TOKEN_CLASSES",
    "attributes_of",
    "check",
    "in_series",
    "joined",
    "means",
    "read",
    "records",
    "save",
    "tidy",
    "with_interval",
]

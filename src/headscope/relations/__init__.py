"""Which heads link the words that a relation links: frame elements, dependents, pairs of words, links of your own."""

from headscope.relations.found import DIRECTIONS, Found, joined
from headscope.relations.limits import Limits, linked
from headscope.relations.read import read
from headscope.relations.reader import Reader
from headscope.relations.scores import Chosen, Score, chosen, score, tallied
from headscope.relations.which import Which, told

__all__ = [
    "DIRECTIONS",
    "Chosen",
    "Found",
    "Limits",
    "Reader",
    "Score",
    "Which",
    "chosen",
    "joined",
    "linked",
    "read",
    "score",
    "tallied",
    "told",
]

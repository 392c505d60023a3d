"""Everything known of single heads: a report card of a head from all results, and an index that ranks heads."""

from headscope.report.heads._address import addressed
from headscope.report.heads._card import Card, card
from headscope.report.heads._gather import Model, gather
from headscope.report.heads._numbers import numbers
from headscope.report.heads._page import write_card, write_heads
from headscope.report.heads._tables import index, of_card, ranking

__all__ = [
    "Card",
    "Model",
    "addressed",
    "card",
    "gather",
    "index",
    "numbers",
    "of_card",
    "ranking",
    "write_card",
    "write_heads",
]

"""Everything known of single heads: a report card of a head from all results, and an index that ranks heads."""

from headscope.report.cards.card import Card, card
from headscope.report.cards.head_numbers import numbers
from headscope.report.cards.main_numbers import addressed
from headscope.report.cards.model_results import MeasuredModel, gather, gather_all
from headscope.report.cards.tables import index, of_card, ranking

__all__ = [
    "Card",
    "MeasuredModel",
    "addressed",
    "card",
    "gather",
    "gather_all",
    "index",
    "numbers",
    "of_card",
    "ranking",
]

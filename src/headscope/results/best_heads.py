"""The best head of each relation (or kind of mention) as variables of a result."""

from collections.abc import Sequence

from headscope.results.variables import Variables, places
from headscope.statistics.split_half import BestHead, column


def add_place(
    variables: Variables, best: Sequence[BestHead | None], dim: str, heads: tuple[int, ...], long_name: str
) -> None:
    """Add `chosen_layer[dim]` and `chosen_head[dim]`: the best heads, NaN where there is none.

    * `heads`: number of heads of each layer.
    * `long_name`: name of such a head, such as "the head that is best on one half".
    """
    place = places(heads)
    layers = column(best, lambda each: place[each.selected.head][0])
    numbers = column(best, lambda each: place[each.selected.head][1])
    variables.add("chosen_layer", layers, (dim,), long_name=f"layer of {long_name}", units="layer")
    variables.add("chosen_head", numbers, (dim,), long_name=f"number in its layer of {long_name}", units="head")

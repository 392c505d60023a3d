"""The best head of each relation (or kind of mention) as variables of a result."""

from collections.abc import Mapping, Sequence

from headscope.results.variables import Count, Variables, places
from headscope.statistics.split_half import BestHead, column, held_out_scores


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


def add_held_out(
    variables: Variables, best: Sequence[BestHead | None], dim: str, scores: Mapping[str, str], units: str, count: Count
) -> None:
    """Add the scores of the best heads on the other half, each with its interval, NaN where there is no best head.

    * `scores`: the long name of each held-out score by variable, in the order of the rows of `BestHead.held_out`.
    * `count`: the number of cases of the other half; it stands beside the first score.
    """
    for row, (name, long_name) in enumerate(scores.items()):
        means, intervals = held_out_scores(best, row)
        beside = count if row == 0 else None
        variables.add(name, means, (dim,), long_name=long_name, units=units, interval=intervals, count=beside)

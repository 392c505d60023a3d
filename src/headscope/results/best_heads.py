"""The best head of each relation (or kind of mention) as variables of a result."""

from collections.abc import Sequence

from headscope.results.variables import Count, Label, Variables, places
from headscope.statistics.split_half import BestHead, column, held_out_scores

# On other data another head may be chosen.
OF_THIS_RUN = ", of the head that this run chose"


def place_labels(long_name: str, *dims: str) -> dict[str, Label]:
    """Labels of `chosen_layer` and `chosen_head`; `long_name` is such as "the head that is best on one half"."""
    return {
        "chosen_layer": Label(f"layer of {long_name}", "layer", dims),
        "chosen_head": Label(f"number in its layer of {long_name}", "head", dims),
    }


def add_place(variables: Variables, best: Sequence[BestHead | None], heads: tuple[int, ...]) -> None:
    """Add `chosen_layer` and `chosen_head`: the best heads, NaN where there is none.

    * `heads`: number of heads of each layer.
    """
    indices = places(heads)
    variables.add("chosen_layer", column(best, lambda one: indices[one.selected.head][0]))
    variables.add("chosen_head", column(best, lambda one: indices[one.selected.head][1]))


def add_held_out(
    variables: Variables, best: Sequence[BestHead | None], names: Sequence[str], count: Count, shares: int = 0
) -> None:
    """Add the scores of the best heads on the other half, each with its interval, NaN where there is no best head.

    * `names`: the variables in the order of the rows of `BestHead.held_out`.
    * `count`: the number of cases of the other half; it stands beside the first score.
    * `shares`: so many of the first scores are means of zeros and ones.
    """
    for row, name in enumerate(names):
        means, intervals = held_out_scores(best, row, share=row < shares)
        variables.add(name, means, interval=intervals, count=count if row == 0 else None)
        variables.arrays[f"{name}_ci"].attrs["long_name"] += OF_THIS_RUN

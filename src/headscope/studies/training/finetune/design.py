"""The seeds of new weights and of the order of examples that go together in a run."""

from dataclasses import dataclass
from typing import Annotated, Literal

from headscope.errors import HeadscopeError
from headscope.ranges import Range

Pairs = list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class SeedDesign:
    """The seeds of the runs of a table, and what is done where there are several.

    * `seeds`: Train with this number of seeds, from `--seed` on, each of new weights and of the order of examples.
    * `weight_seeds`: Train with this number of seeds of new weights, apart from those of the order.
    * `order_seeds`: Train with this number of seeds of the order of examples and of dropout.
    * `seed_pairing`: Pair these seeds all with all, or as just over half of a Latin square.
    * `stop_bad_seeds`: Stop this share of the runs of each task and way, those with the lowest score on dev after the
      first third of the epochs.
    * `head_examples`: Measure the heads of each run on this number of dev examples, where there are several runs.
    """

    seeds: Annotated[int, Range(1, 100)] = 1
    weight_seeds: Annotated[int, Range(1, 100)] | None = None
    order_seeds: Annotated[int, Range(1, 100)] | None = None
    seed_pairing: Literal["all", "latin"] = "all"
    stop_bad_seeds: Annotated[float, Range(0, 1)] = 0.0
    head_examples: Annotated[int, Range(0, 100_000)] = 32

    def pairs(self, first: int) -> Pairs:
        """The seeds of each run: of new weights, and of the order of examples with dropout; both from `first` on.

        Of all pairs "latin" takes the symbols of a cyclic Latin square, just over half of them, so that each seed has
        as many runs as any other.

        Raises `HeadscopeError` for numbers that do not fit each other.

        >>> SeedDesign(seeds=2).pairs(7), SeedDesign(order_seeds=2).pairs(0)
        ([(7, 7), (8, 8)], [(0, 0), (0, 1)])
        >>> SeedDesign(weight_seeds=3, order_seeds=3, seed_pairing="latin").pairs(0)
        [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
        """
        latin = self.seed_pairing == "latin"
        if self.weight_seeds is None and self.order_seeds is None:
            if latin:
                raise HeadscopeError("seed pairs 'latin' need two kinds of seeds; add --weight-seeds and --order-seeds")
            return [(first + number, first + number) for number in range(self.seeds)]
        if self.seeds != 1:
            raise HeadscopeError(
                f"seeds {self.seeds}: both seeds are set by --weight-seeds and --order-seeds; leave --seeds out"
            )
        rows, columns = self.weight_seeds or 1, self.order_seeds or 1
        if latin and not rows == columns >= 3:
            numbers = f"{rows} weight seeds and {columns} order seeds"
            raise HeadscopeError(
                f"seed pairs 'latin': {numbers} make no square; use the same number of both, from 3 on"
            )
        symbols = rows // 2 + 1 if latin else columns
        return [
            (first + row, first + column)
            for row in range(rows)
            for column in range(columns)
            if (row + column) % columns < symbols
        ]

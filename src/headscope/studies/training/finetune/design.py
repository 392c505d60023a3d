"""The seeds of new weights and of the order of examples that go together in a run."""

from headscope.errors import HeadscopeError

Pairs = list[tuple[int, int]]


def seed_pairs(first: int, seeds: int, weight_seeds: int | None, order_seeds: int | None, latin: bool) -> Pairs:
    """The seeds of each run: of new weights, and of the order of examples with dropout; both from `first` on.

    * `seeds`: runs in which both are the same; with `weight_seeds` or `order_seeds` all pairs of these.
    * `latin`: of all pairs the symbols of a cyclic Latin square, just over half of them, so that each seed has as many
      runs as any other.

    Raises `HeadscopeError` for numbers that do not fit each other.

    >>> seed_pairs(7, 2, None, None, False), seed_pairs(0, 1, 1, 2, False)
    ([(7, 7), (8, 8)], [(0, 0), (0, 1)])
    >>> seed_pairs(0, 1, 3, 3, True)
    [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
    """
    if weight_seeds is None and order_seeds is None:
        if latin:
            raise HeadscopeError("seed pairs 'latin' need two kinds of seeds; add --weight-seeds and --order-seeds")
        return [(first + number, first + number) for number in range(seeds)]
    if seeds != 1:
        raise HeadscopeError(
            f"seeds {seeds}: both seeds are set by --weight-seeds and --order-seeds; leave --seeds out"
        )
    rows, columns = weight_seeds or 1, order_seeds or 1
    if latin and not rows == columns >= 3:
        raise HeadscopeError(
            f"seed pairs 'latin': {rows} weight seeds and {columns} order seeds are no square; use as many, from 3 on"
        )
    symbols = rows // 2 + 1 if latin else columns
    return [
        (first + row, first + column)
        for row in range(rows)
        for column in range(columns)
        if (row + column) % columns < symbols
    ]

"""The values that a number may have, as a part of its type: `Annotated[int, Range(1, 100)]`."""

from dataclasses import dataclass

from headscope.errors import HeadscopeError


@dataclass(frozen=True)
class Range:
    """Numbers from `least` to `most`, both included.

    There is always an upper bound: `rerun` follows the commands of other people's results, and a number may cost memory
    or disk.

    >>> Range(0, 1).check("share", 2)
    Traceback (most recent call last):
    headscope.errors.HeadscopeError: share 2: use a number from 0 to 1
    """

    least: float
    most: float

    def check(self, name: str, value: float) -> None:
        """Raise `HeadscopeError` for a value outside the range, and for one that is not a number."""
        if not self.least <= value <= self.most:
            raise HeadscopeError(f"{name} {value}: use a number from {self.least} to {self.most}")


# Of the settings of a pass, in Python and on the command line.
SETTINGS = {
    "batch_tokens": Range(1, 65_536),  # where a GPU is no faster with more
    "seed": Range(0, 2**32 - 1),
    "resamples": Range(1, 10_000),
    "workers": Range(1, 256),
}

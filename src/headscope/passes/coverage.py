"""Counts of the inputs and tokens of a pass, and the values of uniform attention over them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.common_numbers import COVERAGE
from headscope.encoding.encoded import Encoded
from headscope.results.variables import Variables
from headscope.results.vocabulary import TOKEN_CLASSES


@dataclass
class Coverage:
    """Sums over inputs, which add up over shards.

    * `share`: of each input's share of tokens of each class; `log_length`: of ln L.
    """

    inputs: int = 0
    tokens: int = 0
    share: Float[np.ndarray, "4"] = field(default_factory=lambda: np.zeros(len(TOKEN_CLASSES)))
    log_length: float = 0.0

    def add(self, group: Iterable[Encoded]) -> None:
        """Count a batch of inputs."""
        for encoded in group:
            self.inputs += 1
            self.tokens += len(encoded)
            self.share += np.bincount(encoded.token_class, minlength=len(TOKEN_CLASSES)) / len(encoded)
            self.log_length += float(np.log(len(encoded)))

    def __add__(self, other: "Coverage") -> "Coverage":
        """The sums of both sets of inputs."""
        return Coverage(
            self.inputs + other.inputs,
            self.tokens + other.tokens,
            self.share + other.share,
            self.log_length + other.log_length,
        )

    def variables(self) -> dict[str, xr.DataArray]:
        """The references that a profile is read against."""
        variables = Variables({"token_class": TOKEN_CLASSES}, "", {number.name: number for number in COVERAGE})
        variables.add("token_share", self.share / self.inputs)
        variables.add("uniform_entropy", self.log_length / self.inputs)
        return variables.arrays

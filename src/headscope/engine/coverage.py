"""What a pass has read: inputs, tokens, and what uniform attention over them would be."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from headscope.encoding.encoded import Encoded
from headscope.results.vocabulary import TOKEN_CLASSES


@dataclass
class Coverage:
    """Sums over the inputs read so far; `share` is each input's share of tokens of each class, `log_length` ln L."""

    inputs: int = 0
    tokens: int = 0
    share: np.ndarray = field(default_factory=lambda: np.zeros(len(TOKEN_CLASSES)))
    log_length: float = 0.0

    def add(self, group: Iterable[Encoded]) -> None:
        """Count a batch of inputs."""
        for encoded in group:
            self.inputs += 1
            self.tokens += len(encoded)
            self.share += np.bincount(encoded.token_class, minlength=len(TOKEN_CLASSES)) / len(encoded)
            self.log_length += np.log(len(encoded))

    def variables(self) -> dict[str, xr.DataArray]:
        """The references that a profile is read against."""
        share = xr.DataArray(self.share / self.inputs, {"token_class": list(TOKEN_CLASSES)}, ("token_class",))
        uniform = xr.DataArray(self.log_length / self.inputs)
        source = "each input's tokens, averaged over inputs"
        return {
            "token_share": share.assign_attrs(
                long_name="share of tokens of each class: what uniform attention gives it",
                units="share of tokens",
                source=source,
            ),
            "uniform_entropy": uniform.assign_attrs(
                long_name="entropy of uniform attention over all tokens", units="nats", source=source
            ),
        }

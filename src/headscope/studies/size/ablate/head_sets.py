"""The sets of heads that other results ask for: their special heads, and pairs of alike heads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.studies.size.ablate import head_pairs, special_heads
from headscope.studies.size.ablate.special_heads import SpecialHeads
from headscope.studies.size.ablate.variables import Effects

Heads = Bool[np.ndarray, "layer head"]


@dataclass(frozen=True)
class AskedSets:
    """Sets that are disabled beside those that the user names: special heads with random ones, then pairs."""

    special: Sequence[SpecialHeads]
    pairs: Sequence[Heads]

    @classmethod
    def of(
        cls, folders: Sequence[str], draws: int, pairs: str, most_pairs: int, counts: tuple[int, ...], seed: int
    ) -> "AskedSets":
        """The sets of some results; see `study.run` for the options."""
        special = special_heads.special_heads(folders, counts, draws, seed)
        chosen = head_pairs.pairs_of(pairs, counts, most_pairs, seed) if pairs else []
        return cls(special, chosen)

    @property
    def sets(self) -> list[Heads]:
        """All sets in their order."""
        return [*(heads for marked in self.special for heads in marked.sets), *self.pairs]

    def variables(self, outputs: Float[np.ndarray, "set example output"], effects: Effects) -> dict[str, xr.DataArray]:
        """What the score loses without them; `outputs` are those of the sets."""
        made: dict[str, xr.DataArray] = {}
        first = len(outputs) - len(self.pairs)
        if self.special:
            made |= special_heads.variables(self.special, effects.gains_of(outputs[:first]))
        if self.pairs:
            both = effects.gains_of(outputs[first:])
            made |= head_pairs.variables(self.pairs, both, effects.single, effects.heads)
        return made

"""A step of the search for a smaller model, as it is saved and read again."""

from dataclasses import dataclass

from headscope.models.eight_bits import EightBits
from headscope.studies.shrink.sizes import AnySize

# The step that removes no part: the weights become numbers of eight bits.
EIGHT_BITS = "eight bits"


@dataclass(frozen=True)
class InEightBits:
    """How a step is written in eight bits.

    * `options`: its layers are named as those of the whole model.
    * `added`: what eight bits add to the change of the same model in float32.
    * `rest`: megabytes of the file beside its matrices and the vectors of its layers.
    """

    options: EightBits
    added: float
    rest: float


@dataclass(frozen=True)
class Step:
    """A step of the search.

    * `part`: what was removed, or `EIGHT_BITS`; empty for the whole model.
    * `change`: of the outputs of the model after it, from those of the whole model (`answers.change`).
    * `estimate`: the change when the part alone is silenced in the whole model, without a fit.
    * `megabytes`, `share`: the size, in eight bits that of the file, and the expected share of the whole model's time.
    * `eight_bit`: None in float32.
    """

    part: str
    size: AnySize
    change: float
    estimate: float
    megabytes: float
    share: float
    eight_bit: InEightBits | None = None

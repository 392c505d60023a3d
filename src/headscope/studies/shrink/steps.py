"""A step of the search for a smaller model, as it is saved and read again."""

from dataclasses import dataclass

from headscope.studies.shrink.sizes import AnySize


@dataclass(frozen=True)
class Step:
    """A step of the search.

    * `part`: what was removed; empty for the whole model.
    * `change`: of the outputs of the model after it, from those of the whole model (`answers.change`).
    * `estimate`: the change when the part alone is silenced in the whole model, without a fit.
    * `megabytes`, `share`: the size, and the expected share of the whole model's time.
    """

    part: str
    size: AnySize
    change: float
    estimate: float
    megabytes: float
    share: float

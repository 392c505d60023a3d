"""What a result says of the model that was saved beside it, checked: somebody else may have written it."""

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.studies.size.shrink.timing import Timing

# At most so many tokens are timed at a time, and so many shapes.
MOST_TOKENS, MOST_SHAPES = 1 << 16, 64


@dataclass(frozen=True)
class SavedFacts:
    """The facts by which a saved model is verified.

    * `after`: milliseconds of the saved model for each timed shape; `times_as_fast`: over the shapes, `by_round`: the
      least and the most of all rounds, nothing where they are not known.
    * `words_head`: whether it has a head for masked words.
    * `megabytes`: of the file of eight bits, 0 without one.
    """

    parameters: int
    timing: Timing
    after: list[float]
    times_as_fast: float
    by_round: list[float]
    words_head: bool
    megabytes: float


def recorded(result: xr.Dataset, name: str) -> SavedFacts:
    """The facts of a result, and that its scores are there.

    * `name`: of the result, for an error.

    Raises `HeadscopeError` for facts and scores that the study does not write, and more timed tokens than 65,536.
    """
    try:
        return _recorded(result)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        words = f"{type(error).__name__}: {str(error)[:100]}"
        raise HeadscopeError(
            f"result '{name}' does not have the sizes, times and scores that 'headscope shrink' writes ({words}); "
            "name a folder that it wrote"
        ) from error


def _recorded(result: xr.Dataset) -> SavedFacts:
    known = json.loads(result.attrs["shrinking"])
    timed, eight_bit = known["timed"], "eight_bit" in known
    shapes = tuple((_count(one["examples"]), _count(one["tokens"])) for one in timed)
    if not 0 < len(shapes) <= MOST_SHAPES or any(examples * tokens > MOST_TOKENS for examples, tokens in shapes):
        raise ValueError(f"timed are not 1 to {MOST_SHAPES} shapes of up to {MOST_TOKENS:,} tokens")
    for model in ("shrunk", *(("eight_bit",) if eight_bit else ())):
        scores = result[f"{model}_score"]
        if scores.dims != ("metric",) or not np.issubdtype(scores.dtype, np.floating):
            raise ValueError(f"{model}_score is no number for each metric")
    return SavedFacts(
        parameters=_count(known["parameters"][1]),
        timing=Timing(shapes),
        times_as_fast=len(timed) / sum(_positive(one["after"]) / _positive(one["before"]) for one in timed),
        by_round=[_positive(one) for one in known.get("times_as_fast", [0])[1:]],
        after=[_positive(one["after"]) for one in timed],
        words_head=_text(known["model_class"][1]).endswith("ForMaskedLM"),
        megabytes=_positive(known["eight_bit"]["megabytes"][1]) if eight_bit else 0.0,
    )


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{str(value)[:20]!r} is no count")
    return value


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (value > 0 and isfinite(value)):
        raise ValueError(f"{str(value)[:20]!r} is no number above 0")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:20]!r} is no text")
    return value

"""What a result says of the model that was saved beside it, checked: somebody else may have written it."""

import json
from dataclasses import astuple, dataclass
from math import inf

import numpy as np
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.storage.codec import decode
from headscope.studies.size.shrink.timing import Shapes

# At most so many tokens are timed at a time, and so many shapes.
MOST_TOKENS, MOST_SHAPES = 1 << 16, 64


@dataclass(frozen=True)
class TimedShape:
    """Milliseconds of a forward pass of a shape, of the whole model and of the saved one."""

    examples: int
    tokens: int
    before: float
    after: float


@dataclass(frozen=True)
class SavedFacts:
    """The facts by which a saved model is verified.

    * `after`: milliseconds of the saved model for each timed shape; `times_as_fast`: over the shapes, `by_round`: the
      least and the most of all rounds.
    * `words_head`: whether it has a head for masked words.
    * `megabytes`: of the file of eight bits, 0 without one.
    """

    parameters: int
    shapes: Shapes
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
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, ArithmeticError) as error:
        words = f"{type(error).__name__}: {str(error)[:100]}"
        raise HeadscopeError(
            f"result '{name}' does not have the sizes, times and scores that 'headscope shrink' writes ({words}); "
            "name a folder that it wrote"
        ) from error


def _recorded(result: xr.Dataset) -> SavedFacts:
    known = json.loads(result.attrs["shrinking"])
    timed = decode(known["timed"], list[TimedShape])
    shapes = tuple((shape.examples, shape.tokens) for shape in timed)
    parameters, by_round = decode(known["parameters"], list[int])[1], decode(known["times_as_fast"], list[float])[1:]
    files = [decode(known["eight_bit"]["megabytes"], list[float])[1]] if "eight_bit" in known else []
    for value in (parameters, *by_round, *files, *(number for shape in timed for number in astuple(shape))):
        if not 0 < value < inf:
            raise ValueError(f"{value!r} is no number above 0")
    if not 0 < len(shapes) <= MOST_SHAPES or any(examples * tokens > MOST_TOKENS for examples, tokens in shapes):
        raise ValueError(f"timed are not 1 to {MOST_SHAPES} shapes of up to {MOST_TOKENS:,} tokens")
    for name in ("shrunk_score", *["eight_bit_score"] * len(files)):
        if result[name].dims != ("metric",) or not np.issubdtype(result[name].dtype, np.floating):
            raise ValueError(f"{name} is no number for each metric")
    return SavedFacts(
        parameters=parameters,
        shapes=shapes,
        times_as_fast=len(timed) / sum(shape.after / shape.before for shape in timed),
        by_round=by_round,
        after=[shape.after for shape in timed],
        words_head=decode(known["model_class"], list[str])[1].endswith("ForMaskedLM"),
        megabytes=sum(files),
    )

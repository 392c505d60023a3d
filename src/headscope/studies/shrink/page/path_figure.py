"""The first figure: the score against speed and against size, of all models of a run."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.figures.curve import curve
from headscope.figures.labels import label
from headscope.report.parts import Figure
from headscope.report.wording import Estimate, estimate
from headscope.studies.shrink.page.findings import facts, times

PATH = "Score against speed and size"
STEPS, GATES = "each step, untrained", "by gates, trained with them"
SAVED, EIGHT_BITS = "saved model", "saved model in eight bits"
CHOICES = {"weights": "longest weights, untrained", "random": "random parts, untrained"}


@dataclass(frozen=True)
class Point:
    """A model of the figure: to which line it belongs, its score, how many times as fast it is, and its size."""

    line: str
    score: Estimate
    speed: float
    megabytes: float


def path_figures(result: xr.Dataset) -> list[Figure]:
    """The main score by speed and by size."""
    name = label("metric", str(result["metric"].values[0]))
    caption = (
        f"Held-out {name} after each step of the search from the whole model on, and of the saved model. Beside them "
        "models of its size whose parts are chosen otherwise. The band is the 95% interval of the steps; the table of "
        "the values has those of single models. "
    )
    notes = {
        "speed": "Speed: times the whole model; of the saved model as measured, of others as expected.",
        "megabytes": "Megabytes of the parameters; of all but the saved model without the pieces that go in any case.",
    }
    files = {"speed": "path_score", "megabytes": "path_size"}
    return [
        Figure(files[along], PATH, curve(_array(result, along), along), caption + note, "path_score")
        for along, note in notes.items()
    ]


def points(result: xr.Dataset) -> list[Point]:
    """All models of a run, the steps first."""
    known, metric = facts(result), str(result["metric"].values[0])
    sizes = result["megabytes"].values.tolist()
    line = GATES if "gates" in known else STEPS
    steps = [
        Point(line, estimate(result, "path_score", step=step, metric=metric), speed, size)
        for step, (speed, size) in enumerate(zip(known["speeds"], sizes, strict=True))
    ]
    saved = Point(SAVED, estimate(result, "shrunk_score", metric=metric), times(result), known["megabytes"][1])
    others = [
        Point(words, estimate(result, "choice_score", choice=choice, metric=metric), steps[-1].speed, sizes[-1])
        for choice, words in CHOICES.items()
        if "choice_score" in result
    ]
    return [*steps, saved, *_eight_bit(result, metric), *others]


def _eight_bit(result: xr.Dataset, metric: str) -> list[Point]:
    """The saved model in eight bits."""
    known = facts(result).get("eight_bit")
    if known is None:
        return []
    shares = [
        after / timed["before"] for timed, (_, after) in zip(facts(result)["timed"], known["milliseconds"], strict=True)
    ]
    score = estimate(result, "eight_bit_score", metric=metric)
    return [Point(EIGHT_BITS, score, len(shares) / sum(shares), known["megabytes"][1])]


def _array(result: xr.Dataset, along: str) -> xr.DataArray:
    """The scores of all models over their speed or size; NaN where a line has no model."""
    found = points(result)
    lines = list(dict.fromkeys(point.line for point in found))
    values = np.full((3, len(lines), len(found)), np.nan)
    for number, point in enumerate(found):
        values[:, lines.index(point.line), number] = point.score.value, point.score.lower, point.score.upper
    dims = ("model", along)
    array = xr.DataArray(
        values[0],
        {"model": lines, along: [getattr(point, along) for point in found]},
        dims,
        "score",
        result["path_score"].attrs | {"long_name": "score of each model, and after each step of the search"},
    )
    return array.assign_coords(lower=(dims, values[1]), upper=(dims, values[2])) if "path_score_ci" in result else array

"""The saved model in other number formats: its scores in eight bits and in bfloat16."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora.tasks import Task
from headscope.models import Model
from headscope.outputs.size_and_speed import megabytes
from headscope.passes import Settings
from headscope.results.variables import Variables
from headscope.studies.shrink import scores as scoring
from headscope.studies.shrink.answers import Outputs
from headscope.studies.shrink.eight_bit import eight_bit_model
from headscope.studies.shrink.evidence import gains_of, scores_of
from headscope.studies.shrink.judging import Evidence, Judging
from headscope.studies.shrink.saved_folder import BFLOAT16
from headscope.studies.shrink.sizes import Original
from headscope.studies.shrink.splits import Splits, encode
from headscope.studies.shrink.timing import Timing
from headscope.studies.shrink.variables import FORMATS

Saved = tuple[dict[str, xr.DataArray], dict[str, Any]]


def quantisable(original: Original) -> Original:
    """The model, of which each layer keeps a head and a neuron: onnxruntime runs and quantises no map without any."""
    return replace(original, least_heads=1, least_neurons=1)


def other_formats(
    judging: Judging,
    found: Evidence,
    smaller: Model,
    half: Model | None,
    timing: Timing,
    folder: Path | None,
) -> Saved:
    """The scores of a smaller model in other formats, and their facts.

    * `half`: the model in bfloat16, if it is saved so; `folder`: that of its files of eight bits, if there are some.
    """
    variables, facts = _in_eight_bits(judging, found, smaller, timing, folder) if folder else ({}, {})
    if half is not None:
        scored, known = _as_bfloat16(judging, found, half)
        variables, facts = variables | scored, facts | known
    return variables, facts


def _in_eight_bits(judging: Judging, found: Evidence, smaller: Model, timing: Timing, folder: Path) -> Saved:
    """Write the files of eight bits into a folder. Returns: their scores on held-out texts, and their facts."""
    answers, texts, settings = judging.answers, judging.texts, judging.settings
    made = eight_bit_model(smaller.on("cpu"), answers, encode(smaller, texts.stopping), folder, settings)
    outputs = [found.before, made.outputs(answers, found.inputs, settings)]
    scored = _eight_bit_scores(answers.task, outputs, texts, judging.tolerance, settings)
    return scored, {"eight_bit": made.facts(timing)}


def _as_bfloat16(judging: Judging, found: Evidence, half: Model) -> Saved:
    """The scores on held-out texts of a smaller model with weights in bfloat16, and its facts."""
    outputs = [found.before, found.after, judging.answers.of(half, found.inputs, judging.settings)]
    scored = bfloat16_scores(judging.answers.task, outputs, judging.texts, judging.tolerance, judging.settings)
    return scored, {"bfloat16": {"folder": BFLOAT16, "megabytes": megabytes(half)}}


def _eight_bit_scores(
    task: Task | None, outputs: list[Outputs], texts: Splits, tolerance: float, settings: Settings
) -> dict[str, xr.DataArray]:
    """The score of the file of eight bits, and its gain beside the whole model.

    * `outputs`: of the whole model and of the file; `tolerance`: see `gains_of`.
    """
    scores = scores_of(task, outputs, texts, settings)
    return _of_format("eight_bit", scores, gains_of(task, outputs, scores, tolerance, settings)[-1], len(outputs[0]))


def bfloat16_scores(
    task: Task | None, outputs: list[Outputs], texts: Splits, tolerance: float, settings: Settings
) -> dict[str, xr.DataArray]:
    """The score of the folder in bfloat16, and its gain beside the one in float32.

    * `outputs`: of the whole model, and of both folders; `tolerance`: see `gains_of`.
    """
    scores = scores_of(task, outputs, texts, settings)
    if task is None:
        gain = scoring.last_gain(scores, texts.units)
    else:
        gain = gains_of(task, outputs[1:], scores, tolerance, settings)[-1]
    return _of_format("bfloat16", scores, gain, len(outputs[0]))


def _of_format(name: str, scores: scoring.Scores, gain: Float[np.ndarray, " 3"], n: int) -> dict[str, xr.DataArray]:
    """The variables of the last model, which has another number format."""
    made = Variables({"metric": scores.metrics}, *FORMATS[name])
    made.add(f"{name}_score", scores.values[-1], interval=scores.bounds[-1], count=n)
    made.add(f"{name}_gain", gain[0], interval=gain[1:], count=n)
    return made.arrays

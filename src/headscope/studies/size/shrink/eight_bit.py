"""The saved model as an ONNX file with weights of eight bits, whose options are chosen by what they change."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from headscope.models import Model
from headscope.models.onnx import EightBits, export, quantised, session_of
from headscope.outputs.size_and_speed import file_seconds, random_tokens
from headscope.studies.size.shrink.held_out import Evidence
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.prices import ROUNDS, Shapes
from headscope.studies.size.shrink.scores import change
from headscope.studies.size.shrink.texts import encode

# Beside the weights in the folder of the model; other programs look for these names.
FOLDER, WHOLE, EIGHT = "onnx", "model.onnx", "model_quantized.onnx"
# Options are chosen on at most this many texts.
MOST_TEXTS = 128


def scored(
    judge: Judge, evidence: Evidence, smaller: Model, shapes: Shapes, folder: Path
) -> tuple[dict[str, xr.DataArray], dict[str, Any]]:
    """Write a smaller model into a folder as ONNX files, in float32 and in eight bits.

    Of all ways to scale the one is taken that changes the outputs least, of texts that do not score.

    Returns: scores on held-out texts; and options, sizes and milliseconds of both files.

    Raises `HeadscopeError` if the model cannot be exported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    inputs = encode(smaller, judge.texts.stopping)[:MOST_TEXTS]
    model = judge.answering(smaller.on("cpu"))
    source, target = export(model, folder / WHOLE), folder / EIGHT
    before = judge.outputs(model, inputs)

    def changed(options: EightBits) -> float:
        session = session_of(quantised(source, target, options))
        return change(before, judge.file_outputs(session, model, inputs))

    ways = [EightBits(channel, reduced) for channel, reduced in product((False, True), repeat=2)]
    changes = [changed(options) for options in ways]
    options = ways[int(np.argmin(changes))]
    sessions = [session_of(source), session_of(quantised(source, target, options))]
    after = judge.file_outputs(sessions[1], model, evidence.inputs)
    arrays = judge.variables([evidence.before, after], "eight_bit_score", "eight_bit_gain")
    seconds = [file_seconds(sessions, random_tokens(model, *shape), ROUNDS) for shape in shapes]
    facts = {
        "file": f"{FOLDER}/{EIGHT}",
        "options": options.words,
        "change": min(changes),
        "inputs": len(inputs),
        "megabytes": [file_megabytes(path) for path in (source, target)],
        "milliseconds": (1000 * np.array(seconds)).tolist(),
    }
    return arrays, {"eight_bit": facts}


def file_megabytes(path: Path) -> float:
    """The megabytes of a file and of that with its large weights."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6

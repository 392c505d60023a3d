"""The saved model in other number formats: as an ONNX file with weights of eight bits, and in bfloat16."""

from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headscope.models import Model
from headscope.models.onnx import EightBits, export, quantised, session_of
from headscope.outputs.size_and_speed import Shapes, file_seconds, megabytes, random_tokens, seconds_by_round
from headscope.studies.size.shrink.held_out import Arrays, Evidence
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.scores import change
from headscope.studies.size.shrink.texts import encode

# Beside the weights in the folder of the model; other programs look for these names.
ONNX, WHOLE, EIGHT = "onnx", "model.onnx", "model_quantized.onnx"
# Options are chosen on at most this many texts.
MOST_TEXTS = 128


def in_eight_bits(
    judge: Judge, evidence: Evidence, smaller: Model, shapes: Shapes, folder: Path
) -> tuple[Arrays, dict[str, Any]]:
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
    arrays = judge.variables([after], "eight_bit_score", "eight_bit_gain")
    seconds = [file_seconds(sessions, random_tokens(model, *shape)) for shape in shapes]
    facts = {
        "file": f"{ONNX}/{EIGHT}",
        "options": options.words,
        "change": min(changes),
        "inputs": len(inputs),
        "megabytes": [file_megabytes(path) for path in (source, target)],
        "milliseconds": (1000 * np.array(seconds)).tolist(),
    }
    return arrays, {"eight_bit": facts}


def in_half_precision(
    judge: Judge, evidence: Evidence, smaller: Model, shapes: Shapes
) -> tuple[Arrays, dict[str, Any]]:
    """Scores on held-out texts, megabytes and milliseconds in bfloat16; empty for a model not in float32.

    A machine that cannot run it says so, and has none of them.
    """
    if smaller.network.dtype != torch.float32:
        return {}, {}
    half = replace(smaller, network=deepcopy(smaller.network).to(torch.bfloat16))  # type: ignore[arg-type]
    try:
        outputs = judge.outputs(half, evidence.inputs)
        milliseconds = 1000 * np.median(seconds_by_round([half], shapes)[:, :, 0], 0)
    except RuntimeError as error:
        judge.settings.on_notice(f"bfloat16 is not measured: this machine cannot run it ({str(error)[:100]})")
        return {}, {}
    arrays = judge.variables([outputs], "bfloat16_score", "bfloat16_gain")
    return arrays, {"bfloat16": {"megabytes": megabytes(half), "milliseconds": milliseconds.tolist()}}


def file_megabytes(path: Path) -> float:
    """The megabytes of a file and of that with its large weights."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6

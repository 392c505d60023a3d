"""The saved model as an ONNX file with weights of eight bits, whose options are chosen by what they change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from headscope.models import Model
from headscope.models.eight_bits import EightBits, nodes_by_part, quantised
from headscope.models.onnx import export
from headscope.outputs.size_and_speed import file_seconds, random_tokens, session_of
from headscope.studies.size.shrink.answers import file_answers
from headscope.studies.size.shrink.evidence import Evidence
from headscope.studies.size.shrink.judging import Judging
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.prices import ROUNDS, Shapes
from headscope.studies.size.shrink.scores import change
from headscope.studies.size.shrink.splits import encode

# Beside the weights in the folder of the model; other programs look for these names.
FOLDER, WHOLE, EIGHT = "onnx", "model.onnx", "model_quantized.onnx"
# Parts stay in float32 until the outputs change by no more than so much.
MOST_CHANGE = 0.01
# Options are chosen on at most so many texts: some twenty files are tried.
MOST_TEXTS = 128


@dataclass(frozen=True)
class Trial:
    """Options that were tried: the change of the outputs from those in float32, and the megabytes of the file."""

    options: EightBits
    change: float
    megabytes: float

    def as_json(self) -> dict[str, Any]:
        """The trial as JSON stores it."""
        return {"options": self.options.words, "change": self.change, "megabytes": self.megabytes}


def scored(
    judging: Judging, evidence: Evidence, smaller: Model, shapes: Shapes, folder: Path
) -> tuple[dict[str, xr.DataArray], dict[str, Any]]:
    """Write a smaller model into a folder as ONNX files, in float32 and in eight bits.

    All ways to scale are tried, and each part in float32. Parts stay in float32, those first that take away most of the
    change for each megabyte, until the outputs change by 0.01 or less. Texts choose that do not score.

    Returns: scores on held-out texts; and options, trials, sizes and milliseconds of both files.

    Raises `HeadscopeError` if the model cannot be exported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    answers, settings = judging.answers, judging.settings
    inputs = encode(smaller, judging.texts.stopping)[:MOST_TEXTS]
    model = answers.answering(smaller.on("cpu"))
    source, target = export(model, folder / WHOLE), folder / EIGHT
    nodes, before = nodes_by_part(source, model), answers.of(model, inputs, settings)

    def tried(options: EightBits) -> Trial:
        session = session_of(quantised(source, target, options, nodes))
        after = file_answers(answers, session, model, inputs, settings)
        return Trial(options, change(before, after), file_megabytes(target))

    trials = [tried(EightBits(channel, reduced)) for channel, reduced in product((False, True), repeat=2)]
    best = min(trials, key=lambda trial: trial.change)
    alone = [tried(replace(best.options, kept=(part,))) for part in nodes]
    trials += [*alone, *with_several(best, alone, tried)]
    chosen = chosen_trial(trials)
    sessions = [session_of(source), session_of(quantised(source, target, chosen.options, nodes))]
    after = file_answers(answers, sessions[1], model, evidence.inputs, settings)
    arrays = judging.variables([evidence.before, after], "eight_bit_score", "eight_bit_gain")
    seconds = [file_seconds(sessions, random_tokens(model, *shape), ROUNDS) for shape in shapes]
    facts = {
        "file": f"{FOLDER}/{EIGHT}",
        "options": chosen.options.words,
        "change": chosen.change,
        "inputs": len(inputs),
        "trials": [trial.as_json() for trial in trials],
        "megabytes": [file_megabytes(path) for path in (source, target)],
        "milliseconds": (1000 * np.array(seconds)).tolist(),
    }
    return arrays, {"eight_bit": facts}


def quantisable(original: Original) -> Original:
    """The model, of which each layer keeps a head and a neuron: onnxruntime runs and quantises no map without any."""
    return replace(original, least_heads=1, least_neurons=1)


def with_several(best: Trial, alone: Sequence[Trial], tried: Callable[[EightBits], Trial]) -> Iterator[Trial]:
    """Two parts in float32, then three and so on, up to the first trial that changes little; not all of them."""
    if min(trial.change for trial in (best, *alone)) <= MOST_CHANGE:
        return
    useful = sorted(
        (one for one in alone if fall_per_megabyte(best, one) > 0),
        key=lambda one: fall_per_megabyte(best, one),
        reverse=True,
    )
    for number in range(2, min(len(useful), len(alone) - 1) + 1):
        several = tried(replace(best.options, kept=tuple(one.options.kept[0] for one in useful[:number])))
        yield several
        if several.change <= MOST_CHANGE:
            return


def fall_per_megabyte(best: Trial, trial: Trial) -> float:
    """The change that a part in float32 takes away, for each megabyte."""
    return (best.change - trial.change) / max(trial.megabytes - best.megabytes, 1e-6)


def chosen_trial(trials: Sequence[Trial]) -> Trial:
    """The smallest file that changes the outputs by at most `MOST_CHANGE`; without one, that which changes them least.

    Of files of nearly one size, it is that which changes them least.
    """
    good = [trial for trial in trials if trial.change <= MOST_CHANGE]
    if not good:
        return min(trials, key=lambda trial: trial.change)
    smallest = min(trial.megabytes for trial in good)
    return min((trial for trial in good if trial.megabytes <= 1.02 * smallest), key=lambda trial: trial.change)


def file_megabytes(path: Path) -> float:
    """The megabytes of a file and of that with its large weights."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6

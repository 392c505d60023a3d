"""Whether a saved model still gives the scores and has the size that its result says.

What the result says is checked: somebody else may have written it.
"""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from headscope.capture.transformers_logging import refusing
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.models.adapters import is_adapter
from headscope.outputs.size_and_speed import megabytes, parameters, session_of
from headscope.passes import Settings
from headscope.storage.codec import decode
from headscope.studies.size.shrink.answers import Answers, file_answers
from headscope.studies.size.shrink.eight_bit import EIGHT, file_megabytes
from headscope.studies.size.shrink.eight_bit import FOLDER as ONNX
from headscope.studies.size.shrink.judging import Judging, answers_of
from headscope.studies.size.shrink.prices import Shapes, busy, by_round, times_as_fast
from headscope.studies.size.shrink.pseudo_labels import judged_by, task_texts
from headscope.studies.size.shrink.scores import Outputs, Scores
from headscope.studies.size.shrink.splits import encode, of_dev

# Largest difference of equal scores: numbers of another machine differ in their last bits.
SAME = 1e-4
# A file of eight bits has at most so many times the megabytes of the weights.
LARGEST_FILE = 2
# At most so many tokens are timed at a time, and so many shapes.
MOST_TOKENS, MOST_SHAPES = 1 << 16, 64


def verified(
    result: xr.Dataset, folder: Path, model: Model, corpus: Corpus, task: Task | None, settings: Settings
) -> dict[str, Any]:
    """The scores, the parameters and the milliseconds of a saved model, beside those of its result.

    * `result`: of the study; `folder`: that of the saved model.
    * `model`, `corpus`, `task`, `settings`: those of the command that made it.

    Returns: `same`, whether scores and parameters are equal; and of each number what is saved and what is now.

    Raises `HeadscopeError` for a result that the study does not write, and a folder or file that cannot be read.
    """
    known = recorded(result, str(folder.parent))
    _existing(folder, "the saved model", there=folder.is_dir())  # the hub would be asked for it
    if is_adapter(folder):
        raise HeadscopeError(f"'{folder}' is an adapter, not the saved model; run 'headscope shrink' again")
    model, task = judged_by(model, task, corpus, settings)
    saved = load(str(folder.absolute()), head=task is not None or known.words_head, device=str(model.device))
    if task is not None and not task.pseudo_labelled:
        texts = of_dev(task)
    else:
        task, texts = task_texts(model, corpus, task, settings)
    answers = answers_of(model, task)
    judging = Judging(model, answers, texts, answers.tolerance, settings)
    read, before = encode(saved, texts.held_out), judging.outputs(model)
    scores = judging.scores([before, judging.outputs(saved, read)])
    shrunk, files = _beside(result, "shrunk_score", scores), {}
    if known.megabytes:
        path = folder / ONNX / EIGHT
        scores = judging.scores([before, _file_outputs(path, saved, answers, read, settings)])
        sizes = {"megabytes": [known.megabytes, file_megabytes(path)]}
        files = {"eight_bit": _beside(result, "eight_bit_score", scores) | sizes}
    counts, was_busy = [known.parameters, parameters(saved)], busy()
    seconds = by_round(known.shapes, [model, saved])
    now, least, most = times_as_fast(seconds)
    times = zip(known.shapes, known.after, np.median(seconds, 0).tolist(), strict=True)
    return {
        "same": shrunk["same"] and counts[0] == counts[1] and all(entry["same"] for entry in files.values()),
        "scores": shrunk["scores"],
        "parameters": counts,
        "milliseconds": [
            {"examples": examples, "tokens": tokens, "saved": after, "now": 1000 * second}
            for (examples, tokens), after, (_, second) in times
        ],
        "times_as_fast": [known.times_as_fast, now],
        "times_as_fast_by_round": [known.by_round, [least, most]],
        **({"busy": was_busy} if was_busy else {}),
        **files,
    }


def _file_outputs(path: Path, saved: Model, answers: Answers, read: Sequence[Encoded], settings: Settings) -> Outputs:
    """What the file of eight bits answers."""
    _existing(path, "the model in eight bits", there=path.is_file())
    if (weighs := file_megabytes(path)) > LARGEST_FILE * megabytes(saved) + 1:
        raise HeadscopeError(
            f"'{path}' has {weighs:.0f} MB, the model itself {megabytes(saved):.0f}; run 'headscope shrink' again"
        )
    with refusing(f"'{path}' cannot be run", "run 'headscope shrink' again"):
        return file_answers(answers, session_of(path), saved, read, settings)


def _existing(path: Path, words: str, *, there: bool) -> None:
    """Raise `HeadscopeError` unless a file or folder is there."""
    if not there:
        raise HeadscopeError(f"'{path}', {words}, is missing; run 'headscope shrink' again")


def _beside(result: xr.Dataset, name: str, scores: Scores) -> dict[str, Any]:
    """Scores of now beside those that a result has, and whether they are the same.

    * `scores`: of several models, the saved one last.

    Raises `HeadscopeError` for a result with other metrics.
    """
    before, now, metrics = result[name].values, scores.values[-1], result["metric"].values.tolist()
    if metrics != list(scores.metrics):
        raise HeadscopeError(f"the result has scores by {metrics}, the study by {list(scores.metrics)}; run it again")
    both = zip(metrics, before, now, strict=True)
    return {
        "same": bool(np.allclose(now, before, atol=SAME, rtol=0, equal_nan=True)),
        "scores": {metric: [float(one), float(other)] for metric, one, other in both},
    }


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

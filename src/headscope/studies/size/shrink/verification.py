"""Whether a saved model still gives the scores and has the size that its result says."""

from collections.abc import Sequence
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
from headscope.outputs.onnx_outputs import session_of
from headscope.outputs.size_and_speed import megabytes, parameters
from headscope.passes import Settings
from headscope.studies.size.shrink.eight_bit import EIGHT, file_megabytes
from headscope.studies.size.shrink.eight_bit import FOLDER as ONNX
from headscope.studies.size.shrink.judging import Judging, answers_of
from headscope.studies.size.shrink.pseudo_labels import judged_by, task_texts
from headscope.studies.size.shrink.recorded import recorded
from headscope.studies.size.shrink.scores import Outputs, Scores
from headscope.studies.size.shrink.splits import encode, of_dev
from headscope.studies.size.shrink.task_answers import Answers, file_answers
from headscope.studies.size.shrink.timing import busy, by_round, times_as_fast

# Largest difference of equal scores: numbers of another machine differ in their last bits.
SAME = 1e-4
# A file of eight bits has at most so many times the megabytes of the weights.
LARGEST_FILE = 2


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

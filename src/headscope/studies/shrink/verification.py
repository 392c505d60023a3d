"""Whether a saved model still gives the scores and has the size that its result says."""

from collections.abc import Iterator, Sequence
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
from headscope.studies.shrink.answers import ModelAnswers, Outputs, answers_of
from headscope.studies.shrink.eight_bit import EIGHT, file_megabytes
from headscope.studies.shrink.eight_bit import FOLDER as ONNX
from headscope.studies.shrink.evidence import scores_of
from headscope.studies.shrink.pseudo_labels import judged_by, labelled_splits
from headscope.studies.shrink.recorded import SavedFacts, recorded
from headscope.studies.shrink.saved_folder import BFLOAT16
from headscope.studies.shrink.scores import Scores
from headscope.studies.shrink.splits import encode, of_dev
from headscope.studies.shrink.timing import busy, times_as_fast

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
    _refuse_other_folders(folder, known)
    pseudo_labels = task is None and known.pseudo_labels  # beside a task they are those of the training texts
    model, task = judged_by(model, task, corpus, pseudo_labels=pseudo_labels)
    head = task is not None or known.words_head
    saved = load(str(folder.absolute()), head=head, device=str(model.device))
    if task is None or pseudo_labels:
        task, texts = labelled_splits(model, corpus, task, settings, known.max_tokens)
    else:
        texts = of_dev(task)
    answers = answers_of(model, task)
    read = encode(saved, texts.held_out)
    unshrunk, after = answers.of(model, encode(model, texts.held_out), settings), answers.of(saved, read, settings)
    everything = {"shrunk": after} | dict(_other_formats(known, folder, saved, answers, read, settings, head=head))
    entries = {
        name: _beside(result, f"{name}_score", scores_of(task, [unshrunk, outputs], texts, settings))
        for name, outputs in everything.items()
    }
    shrunk = entries.pop("shrunk")
    if "eight_bit" in entries:
        entries["eight_bit"]["megabytes"] = [known.megabytes, file_megabytes(folder / ONNX / EIGHT)]
    counts, was_busy = [known.parameters, parameters(saved)], busy()
    seconds = known.timing.by_round([model, saved])
    now, least, most = times_as_fast(seconds)
    times = zip(known.timing, known.after, np.median(seconds, 0).tolist(), strict=True)
    return {
        "same": shrunk["same"] and counts[0] == counts[1] and all(entry["same"] for entry in entries.values()),
        "scores": shrunk["scores"],
        "parameters": counts,
        "milliseconds": [
            {"examples": examples, "tokens": tokens, "saved": after, "now": 1000 * second}
            for (examples, tokens), after, (_, second) in times
        ],
        "times_as_fast": [known.times_as_fast, now],
        "times_as_fast_by_round": [known.by_round, [least, most]],
        **({"busy": was_busy} if was_busy else {}),
        **entries,
    }


def _refuse_other_folders(folder: Path, known: SavedFacts) -> None:
    """Refuse a folder that is missing, whose name the hub would be asked for, and an adapter, which names a model."""
    half = {"the model in bfloat16": folder.with_name(BFLOAT16)} if "bfloat16" in known.formats else {}
    for words, path in ({"the saved model": folder} | half).items():
        _existing(path, words, there=path.is_dir())
        if is_adapter(path):
            raise HeadscopeError(f"'{path}' is an adapter, not {words}; run 'headscope shrink' again")


def _other_formats(
    known: SavedFacts, folder: Path, saved: Model, answers: ModelAnswers, read: Sequence[Encoded], settings: Settings,
    *, head: bool,
) -> Iterator[tuple[str, Outputs]]:  # fmt: skip
    """What the saved model answers in the other number formats that its result has."""
    if "eight_bit" in known.formats:
        path = folder / ONNX / EIGHT
        _existing(path, "the model in eight bits", there=path.is_file())
        if (weighs := file_megabytes(path)) > LARGEST_FILE * megabytes(saved) + 1:
            raise HeadscopeError(
                f"'{path}' has {weighs:.0f} MB, the model itself {megabytes(saved):.0f}; run 'headscope shrink' again"
            )
        with refusing(f"'{path}' cannot be run", "run 'headscope shrink' again"):
            outputs = answers.of_file(session_of(path), saved, read, settings)
        yield "eight_bit", outputs
    if "bfloat16" in known.formats:
        path = str(folder.with_name(BFLOAT16).absolute())
        yield "bfloat16", answers.of(load(path, head=head, device=str(saved.device), dtype="bfloat16"), read, settings)


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

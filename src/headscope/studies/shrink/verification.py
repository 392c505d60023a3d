"""Whether a saved model still gives the scores and has the size that its result says."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.outputs.onnx_outputs import session_of
from headscope.outputs.size_and_speed import parameters
from headscope.passes import Settings
from headscope.studies.shrink.answers import ModelAnswers, Outputs, answers_of
from headscope.studies.shrink.eight_bit import EIGHT, file_megabytes
from headscope.studies.shrink.eight_bit import FOLDER as ONNX
from headscope.studies.shrink.evidence import scores_of
from headscope.studies.shrink.page.findings import facts, times
from headscope.studies.shrink.pseudo_labels import judged_by, labelled_splits
from headscope.studies.shrink.saved_folder import BFLOAT16
from headscope.studies.shrink.splits import encode, of_dev
from headscope.studies.shrink.timing import Timing, busy, times_as_fast

# Largest difference of equal scores: numbers of another machine differ in their last bits.
SAME = 1e-4


def verified(
    result: xr.Dataset, folder: Path, model: Model, corpus: Corpus, task: Task | None, settings: Settings
) -> dict[str, Any]:
    """The scores, the parameters and the milliseconds of a saved model, beside those of its result.

    * `result`: of the study; `folder`: that of the saved model.
    * `model`, `corpus`, `task`, `settings`: those of the command that made it.

    Returns: `same`, whether scores and parameters are equal; and of each number what is saved and what is now.
    """
    pseudo_labels = task is None and "pseudo_labels" in facts(result)
    model, task = judged_by(model, task, corpus, pseudo_labels=pseudo_labels)
    saved = load(str(folder), head=task is not None, device=str(model.device))
    if task is None or pseudo_labels:
        task, texts = labelled_splits(model, corpus, task, settings, facts(result)["max_tokens"] or None)
    else:
        texts = of_dev(task)
    answers = answers_of(model, task)
    read = encode(saved, texts.held_out)
    unshrunk, after = answers.of(model, encode(model, texts.held_out), settings), answers.of(saved, read, settings)
    everything = {"shrunk": after} | dict(_other_formats(facts(result), folder, saved, answers, read, settings))
    entries = {
        name: _beside(result, f"{name}_score", scores_of(task, [unshrunk, outputs], texts, settings).values[-1])
        for name, outputs in everything.items()
    }
    known, shrunk = facts(result), entries.pop("shrunk")
    if "eight_bit" in entries:
        megabytes = [known["eight_bit"]["megabytes"][1], file_megabytes(folder / ONNX / EIGHT)]
        entries["eight_bit"]["megabytes"] = megabytes
    counts = [known["parameters"][1], parameters(saved)]
    was_busy, shapes = busy(), tuple((timed["examples"], timed["tokens"]) for timed in known["timed"])
    seconds = Timing(shapes, known.get("timed_on", "")).by_round([model, saved])
    now, least, most = times_as_fast(seconds)
    return {
        "same": shrunk["same"] and counts[0] == counts[1] and all(entry["same"] for entry in entries.values()),
        "scores": shrunk["scores"],
        "parameters": counts,
        "milliseconds": [
            {"examples": timed["examples"], "tokens": timed["tokens"], "saved": timed["after"], "now": 1000 * second}
            for timed, (_, second) in zip(known["timed"], np.median(seconds, 0).tolist(), strict=True)
        ],
        "times_as_fast": [times(result), now],
        "times_as_fast_by_round": [known.get("times_as_fast", [times(result)])[1:], [least, most]],
        **({"busy": was_busy} if was_busy else {}),
        **entries,
    }


def _other_formats(
    known: dict[str, Any],
    folder: Path,
    saved: Model,
    answers: ModelAnswers,
    read: Sequence[Encoded],
    settings: Settings,
) -> Iterator[tuple[str, Outputs]]:
    """What the saved model answers in the other number formats that its result has."""
    if "eight_bit" in known:
        session = session_of(_existing(folder / ONNX / EIGHT, "eight bits"))
        yield "eight_bit", answers.of_file(session, saved, read, settings)
    if "bfloat16" in known:
        path = str(_existing(folder.with_name(BFLOAT16), "bfloat16"))
        half = load(path, head=answers.task is not None, device=str(saved.device), dtype="bfloat16")
        yield "bfloat16", answers.of(half, read, settings)


def _existing(path: Path, words: str) -> Path:
    """The file or folder of the model in a number format.

    Raises `HeadscopeError` if it is missing.
    """
    if not path.exists():
        raise HeadscopeError(f"'{path}', the model in {words}, is missing; run 'headscope shrink' again")
    return path


def _beside(result: xr.Dataset, name: str, now: Float[np.ndarray, " metric"]) -> dict[str, Any]:
    """Scores of now beside those that a result has, and whether they are the same."""
    before = result[name].values
    both = zip(result["metric"].values.tolist(), before, now, strict=True)
    return {
        "same": bool(np.allclose(now, before, atol=SAME, rtol=0, equal_nan=True)),
        "scores": {metric: [float(one), float(other)] for metric, one, other in both},
    }

"""Whether a saved model still gives the scores and has the size that its result says."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, aligned
from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.outputs.onnx_outputs import session_of
from headscope.outputs.size_and_speed import forward_seconds, parameters
from headscope.passes import Settings
from headscope.studies.shrink.answers import ModelAnswers, Outputs, answers_of
from headscope.studies.shrink.eight_bit import EIGHT, FOLDER
from headscope.studies.shrink.evidence import scores_of
from headscope.studies.shrink.page.findings import facts
from headscope.studies.shrink.prices import ROUNDS
from headscope.studies.shrink.splits import Splits, encode, split

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
    if task is not None:
        names: Any = model.network.config.id2label
        task = aligned(task, names, model.name)
    saved = load(str(folder), head=task is not None, device=str(model.device))
    answers, texts = (
        answers_of(model, task),
        split(model, corpus, task, settings.seed, facts(result)["max_tokens"] or None),
    )
    outputs = [answers.of(one, encode(one, texts.held_out), settings) for one in (model, saved)]
    now = scores_of(task, outputs, texts, settings).values[-1]
    before, known = result["shrunk_score"].values, facts(result)
    counts = [known["parameters"][1], parameters(saved)]
    shapes = [(timed["examples"], timed["tokens"]) for timed in known["timed"]]
    seconds = [forward_seconds([model, saved], *shape, ROUNDS) for shape in shapes]
    same = bool(np.allclose(now, before, atol=SAME, rtol=0, equal_nan=True)) and counts[0] == counts[1]
    eight = _eight_bit(result, folder, saved, answers, outputs[0], task, texts, settings)
    return {
        "same": same and all(entry["same"] for entry in eight.values()),
        "scores": {
            metric: [float(one), float(other)]
            for metric, one, other in zip(result["metric"].values.tolist(), before, now, strict=True)
        },
        "parameters": counts,
        "milliseconds": [
            {"examples": timed["examples"], "tokens": timed["tokens"], "saved": timed["after"], "now": 1000 * second}
            for timed, (_, second) in zip(known["timed"], seconds, strict=True)
        ],
        "times_as_fast": [
            len(shapes) / sum(timed["after"] / timed["before"] for timed in known["timed"]),
            len(shapes) / sum(after / original for original, after in seconds),
        ],
        **eight,
    }


def _eight_bit(
    result: xr.Dataset,
    folder: Path,
    saved: Model,
    answers: ModelAnswers,
    unshrunk: Outputs,
    task: Task | None,
    texts: Splits,
    settings: Settings,
) -> dict[str, Any]:
    """The scores of the file of eight bits beside those of its result; nothing for a result without it."""
    known = facts(result).get("eight_bit")
    if known is None:
        return {}
    path = folder / FOLDER / EIGHT
    if not path.is_file():
        raise HeadscopeError(f"'{path}', the model in eight bits, is missing; run 'headscope shrink' again")
    after = answers.of_file(session_of(path), saved, encode(saved, texts.held_out), settings)
    now, before = scores_of(task, [unshrunk, after], texts, settings).values[-1], result["eight_bit_score"].values
    both = zip(result["metric"].values.tolist(), before, now, strict=True)
    return {
        "eight_bit": {
            "same": bool(np.allclose(now, before, atol=SAME, rtol=0, equal_nan=True)),
            "scores": {metric: [float(one), float(other)] for metric, one, other in both},
        }
    }

"""Whether a saved model still gives the scores and has the size that its result says.

What the result says is checked: somebody else may have written it.
"""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import inf, prod
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
from headscope.models.onnx import session_of
from headscope.outputs.size_and_speed import Shapes, megabytes, parameters, seconds_by_round
from headscope.passes import Settings
from headscope.storage.codec import decode
from headscope.studies.size.shrink.judge import Judge, judge_of
from headscope.studies.size.shrink.number_formats import EIGHT, ONNX, file_megabytes
from headscope.studies.size.shrink.quoted_score import in_card, quoted_score
from headscope.studies.size.shrink.saved_folder import busy, times_as_fast
from headscope.studies.size.shrink.scores import Outputs, Scores
from headscope.studies.size.shrink.texts import Splits, encode, judged_by, task_texts

# Largest difference of equal scores: numbers of another machine differ in their last bits.
SAME = 1e-4
# A file of eight bits has at most this many times the megabytes of the weights.
LARGEST_FILE = 2
# At most this many tokens are timed at a time, and this many shapes.
MOST_TOKENS, MOST_SHAPES = 1 << 16, 64


def verified(
    result: xr.Dataset,
    folder: Path,
    model: Model,
    corpus: Corpus,
    task: Task | None,
    settings: Settings,
    *,
    pairs: Task | None = None,
) -> dict[str, Any]:
    """The scores, the parameters and the milliseconds of a saved model, beside those of its result.

    * `result`: of the study; `folder`: that of the saved model.
    * `model`, `corpus`, `task`, `settings`: those of the command that made it.
    * `pairs`: sentences with scores, such as STS-B, whose correlation the model card gets.

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
        texts = Splits((), (), tuple(task.dev), tuple(task.dev.units))
        task = None if task.kind == "words" else task
    else:
        task, texts = task_texts(model, corpus, task, settings)
    judge = judge_of(model, task, texts, settings)
    read = encode(saved, texts.held_out)
    scores = judge.scores([judge.before, judge.outputs(saved, read)])
    shrunk, files = _beside(result, "shrunk_score", scores), {}
    if known.megabytes:
        path = folder / ONNX / EIGHT
        scores = judge.scores([judge.before, _file_outputs(path, saved, judge, read)])
        sizes = {"megabytes": [known.megabytes, file_megabytes(path)]}
        files = {"eight_bit": _beside(result, "eight_bit_score", scores) | sizes}
    counts, was_busy = [known.parameters, parameters(saved)], busy()
    seconds = seconds_by_round([model, saved], known.shapes)
    now, least, most = times_as_fast(seconds)
    quoted = quoted_score(judge, saved, pairs) if pairs else {}
    if quoted:
        in_card(folder, quoted)
    times = zip(known.timed, np.median(seconds, 0).tolist(), strict=True)
    return {
        "same": shrunk["same"] and counts[0] == counts[1] and all(entry["same"] for entry in files.values()),
        "scores": shrunk["scores"],
        "parameters": counts,
        "milliseconds": [
            {"examples": shape.examples, "tokens": shape.tokens, "saved": shape.after, "now": 1000 * second}
            for shape, (_, second) in times
        ],
        "times_as_fast": [known.times_as_fast[0], now],
        "times_as_fast_by_round": [known.times_as_fast[1:], [least, most]],
        **({"busy": was_busy} if was_busy else {}),
        **files,
        **({"quoted": quoted} if quoted else {}),
    }


def _file_outputs(path: Path, saved: Model, judge: Judge, read: Sequence[Encoded]) -> Outputs:
    """What the file of eight bits answers."""
    _existing(path, "the model in eight bits", there=path.is_file())
    if (weighs := file_megabytes(path)) > LARGEST_FILE * megabytes(saved) + 1:
        raise HeadscopeError(
            f"'{path}' has {weighs:.0f} MB, the model itself {megabytes(saved):.0f}; run 'headscope shrink' again"
        )
    with refusing(f"'{path}' cannot be run", "run 'headscope shrink' again"):
        return judge.file_outputs(session_of(path), saved, read)


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

    * `times_as_fast`: over the shapes, and of all rounds the lowest and the highest.
    * `words_head`: whether it has a head for masked words; `megabytes`: of the file of eight bits, 0 without one.
    """

    parameters: int
    timed: list[TimedShape]
    times_as_fast: list[float]
    words_head: bool
    megabytes: float

    @property
    def shapes(self) -> Shapes:
        """The timed shapes."""
        return tuple((shape.examples, shape.tokens) for shape in self.timed)


def recorded(result: xr.Dataset, name: str) -> SavedFacts:
    """The facts of a result, and that its scores are there.

    * `name`: of the result, for an error.

    Raises `HeadscopeError` for facts and scores that the study does not write, and more timed tokens than 65,536.
    """
    what = f"result '{name}' does not have the sizes, times and scores that 'headscope shrink' writes"
    with refusing(what, "name a folder that it wrote"):
        known = json.loads(result.attrs["shrinking"])
        files = [decode(known["eight_bit"]["megabytes"], list[float])[1]] if "eight_bit" in known else []
        facts = SavedFacts(
            parameters=decode(known["parameters"], list[int])[1],
            timed=decode(known["timed"], list[TimedShape]),
            times_as_fast=list(decode(known["times_as_fast"], tuple[float, float, float])),
            words_head=decode(known["model_class"], list[str])[1].endswith("ForMaskedLM"),
            megabytes=sum(files),
        )
        times = [number for shape in facts.timed for number in astuple(shape)]
        for value in (facts.parameters, *facts.times_as_fast, *files, *times):
            if not 0 < value < inf:
                raise ValueError(f"{value!r} is no number above 0")
        if not 0 < len(facts.timed) <= MOST_SHAPES or any(prod(shape) > MOST_TOKENS for shape in facts.shapes):
            raise ValueError(f"timed are not 1 to {MOST_SHAPES} shapes of up to {MOST_TOKENS:,} tokens")
        for score in ("shrunk_score", *["eight_bit_score"] * len(files)):
            if result[score].dims != ("metric",) or not np.issubdtype(result[score].dtype, np.floating):
                raise ValueError(f"{score} is no number for each metric")
        return facts

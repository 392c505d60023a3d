"""How large and fast the saved model is, and what its card says."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float

from headscope.figures.labels import label
from headscope.models import Model
from headscope.models.embedding_width import embedding_width
from headscope.outputs.size_and_speed import Shapes, megabytes, parameters, seconds_by_round
from headscope.report.wording import estimate
from headscope.results.tables import markdown_table, plain
from headscope.studies.size.shrink.forms import forms
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.quoted_score import NOT_MEASURED, TITLE
from headscope.studies.size.shrink.scores import AGREEMENT

ANSWERS = (
    "Labels are the answers of the original model to texts without labels: scores say how often the model agrees with "
    "it, not how often either is right."
)


def sizes_and_times(
    model: Model, smaller: Model, shapes: Shapes, sizes: tuple[Size, Size], *, fine: bool
) -> dict[str, Any]:
    """Parameters, megabytes, parts and milliseconds of the whole model and of the saved one.

    With `fine`, where layers differ, neurons and heads are those of all layers, else of a layer.
    """
    both, (first, last) = (model, smaller), sizes
    counted = [tuple(map(sum if fine else max, zip(*size.by_layer, strict=True))) for size in sizes]
    neurons, heads = zip(*counted, strict=True)
    gone = [layer + 1 for layer in first.layers if layer not in last.layers]
    was_busy, seconds = busy(), seconds_by_round(both, shapes)
    return {
        "parameters": [parameters(one) for one in both],
        "megabytes": [megabytes(one) for one in both],
        "pieces": [one.network.config.get_text_config().vocab_size for one in both],
        "layers": [len(first.layers), len(last.layers)],
        "neurons": neurons,
        "heads": heads,
        "embedding_width": [embedding_width(one) for one in both],
        "model_class": [type(one.network).__name__ for one in both],
        **({"fine": {"removed_layers": gone}} if fine else {}),
        "timed": [
            {"examples": examples, "tokens": tokens, "before": 1000 * before, "after": 1000 * after}
            for (examples, tokens), (before, after) in zip(shapes, np.median(seconds, 0).tolist(), strict=True)
        ],
        "times_as_fast": times_as_fast(seconds),
        "dtype": str(smaller.network.dtype).removeprefix("torch."),
        "busy": was_busy,
    }


def times_as_fast(seconds: Float[np.ndarray, "round shape before_and_after"]) -> tuple[float, float, float]:
    """How many times as fast the second of two models is, and the lowest and the highest of all rounds.

    Turned over is the mean share of time over the shapes, by the medians. The range of 7 rounds is a 98% interval of a
    median, as far as the rounds are independent.

    >>> times_as_fast(np.array([[[2.0, 1.0]], [[4.0, 1.0]], [[3.0, 1.0]]]))
    (3.0, 2.0, 4.0)
    """
    of_rounds = 1 / (seconds[:, :, 1] / seconds[:, :, 0]).mean(1)
    typical = np.median(seconds, 0)
    return float(1 / (typical[:, 1] / typical[:, 0]).mean()), float(of_rounds.min()), float(of_rounds.max())


def busy() -> str:
    """A note that other programs use the processor; empty if they use less than half of it, or that is not known."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    others = load - min(torch.get_num_threads(), cores)
    return f"The machine was busy: a load of {load:.1f} on {cores} cores." if others > cores / 2 else ""


def notes(result: xr.Dataset, facts: dict[str, Any]) -> str:
    """Markdown tables of scores, size and speed.

    * `facts`: see `study.run`, the attribute `shrinking`.
    """
    table = forms(result, facts)
    rows = [(*labels, *(cell[0] for cell in cells if cell)) for labels, cells in table.rows]
    lines = ["## Forms", "", *markdown_table(["", *(column.words for column in table.columns)], rows), ""]
    if "bfloat16" in facts:
        lines += ['bfloat16 is this folder, loaded with `dtype="bfloat16"`.', ""]
    lines += ["## Held-out scores", "", f"Scored on {plain(result.attrs['corpus'])}.", ""]
    lines += [ANSWERS, ""] if "pseudo_labels" in facts else []
    lines += [*markdown_table(["metric", "before", "after", "change with 95% interval"], _scores(result)), ""]
    lines += ["## Size and speed", "", *markdown_table(["", "before", "after"], _sizes(facts))]
    if facts["busy"]:
        lines += ["", facts["busy"]]
    if (files := facts.get("eight_bit")) is not None:
        lines += ["", "## Eight bits", "", f"`{files['file']}` has weights of eight bits ({files['options']})."]
    if AGREEMENT[0] in result["metric"].values:
        lines += ["", TITLE, "", NOT_MEASURED]
    return "\n".join(lines)


def _scores(result: xr.Dataset) -> Iterable[tuple[str, ...]]:
    """The scores of the result, and of a language model those of words."""
    names = {"metric": ("whole_score", "shrunk_score", "shrunk_change")}
    names |= {"words_metric": ("whole_words", "shrunk_words", "words_change")} if "words_change" in result else {}
    for dim, (*both, changes) in names.items():
        for metric in result[dim].values.tolist():
            scores = (f"{estimate(result, name, **{dim: metric}):.3f}" for name in both)
            change = estimate(result, changes, **{dim: metric})
            yield plain(label(dim, metric)), *scores, f"{change:+.3f} [{change.lower:+.3f}, {change.upper:+.3f}]"


def _sizes(facts: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    of = "" if facts.get("fine") else " of a layer"
    words = {
        "parameters": "parameters",
        "megabytes": "megabytes",
        "pieces": "pieces of the vocabulary",
        "layers": "layers",
        "neurons": f"neurons{of}",
        "heads": f"heads{of}",
        "embedding_width": "numbers of an embedding",
    }
    for name, title in words.items():
        yield title, *(format(number, ".1f" if name == "megabytes" else ",") for number in facts[name])
    times, least, most = facts["times_as_fast"]
    yield "times as fast, by rounds", "", f"{times:.2f} [{least:.2f}, {most:.2f}]"

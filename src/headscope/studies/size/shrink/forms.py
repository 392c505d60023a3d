"""The forms in which a smaller model is saved, beside the whole one: megabytes, milliseconds and main scores."""

from dataclasses import replace
from typing import Any

import xarray as xr

from headscope.figures.labels import label
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Cell, estimate, number, sentence_case

CAPTION = (
    "Each form of the model: megabytes, the score on held-out texts, and milliseconds of a forward pass of so many "
    "inputs × tokens, where it was made."
)


def forms(result: xr.Dataset, saved: dict[str, Any]) -> Table:
    """A row for the whole model and for each saved form: torch, and the ONNX files if there are some.

    * `saved`: see `study.run`, the attribute `shrinking`.
    """
    timed, files = saved["timed"], saved.get("eight_bit")
    metric, before, after = str(result["metric"].values[0]), *saved["megabytes"]
    rows = [
        ("whole", before, _scores(result, "whole", metric), [shape["before"] for shape in timed]),
        (saved.get("dtype", "float32"), after, _scores(result, "shrunk", metric), [shape["after"] for shape in timed]),
    ]
    if half := saved.get("bfloat16"):
        rows.append(("bfloat16", half["megabytes"], _scores(result, "bfloat16", metric), half["milliseconds"]))
    if files:
        single, eight = zip(*files["milliseconds"], strict=True)
        rows.append(("ONNX, float32", files["megabytes"][0], _scores(result, "", metric), [*single]))
        rows.append(("ONNX, eight bits", files["megabytes"][1], _scores(result, "eight_bit", metric), [*eight]))
    titles = ["MB", sentence_case(label("metric", metric)), *(["Perplexity"] if "words_change" in result else [])]
    titles += [f"ms, {shape['examples']} × {shape['tokens']}" for shape in timed]
    cells: list[tuple[str, Cells]] = [
        (form, [(f"{size:.1f}", ""), *scores, *((f"{time:.1f}", "") for time in times)])
        for form, size, scores, times in rows
    ]
    return replace(titled("forms", CAPTION, "Model", titles, cells), headline=True)


def _scores(result: xr.Dataset, form: str, metric: str) -> list[Cell]:
    """The main score of a form, and its perplexity where words are predicted; empty where it was not scored, or ""."""
    is_scored = bool(form) and f"{form}_score" in result
    scores = [estimate(result, f"{form}_score", metric=metric).cell(".3f") if is_scored else ("", "")]
    if "words_change" not in result:
        return scores
    if form not in ("whole", "shrunk"):  # words are scored of these alone
        return [*scores, ("", "")]
    perplexity = estimate(result, f"{form}_words", words_metric="perplexity").value
    return [*scores, (number(perplexity), "")]

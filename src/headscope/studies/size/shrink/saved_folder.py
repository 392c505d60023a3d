"""The folder of a smaller model: its card with scores, size and speed, written, and loaded again."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import xarray as xr

from headscope.models import Model, load
from headscope.models.pruned_folder import save
from headscope.results.cells import plain
from headscope.storage.files import replace_folder
from headscope.studies.size.shrink.eight_bit import FOLDER as ONNX

ANSWERS = (
    "Labels are the answers of the model before to texts without labels: scores say how far the model agrees with it, "
    "not how often either is right."
)


def written_folder(smaller: Model, folder: Path, card: str, onnx: Path | None, *, head: bool) -> Model:
    """Save a model and load it again, in the number format that it has.

    * `card`: see `notes`; `onnx`: the folder of ONNX files that go beside its weights, if there are some.
    * `head`: whether it has the head of a task.

    Raises `HeadscopeError` if the folder cannot be written.
    """
    save(smaller, folder, card)
    dtype = str(smaller.network.dtype).removeprefix("torch.")
    masked = type(smaller.network).__name__.endswith("ForMaskedLM")
    written = load(str(folder), head=head or masked, device=str(smaller.device), dtype=dtype)
    if onnx is not None:
        replace_folder(onnx, folder / ONNX)
    return written


def notes(result: xr.Dataset, facts: dict[str, Any]) -> str:
    """Markdown tables of scores, size and speed.

    * `facts`: see `study.run`, the attribute `shrinking`.
    """
    lines = ["## Held-out scores", "", f"Scored on {plain(result.attrs['corpus'])}.", ""]
    lines += [ANSWERS, ""] if "pseudo_labels" in facts else []
    lines += [*_table(["metric", "before", "after", "change with 95% interval"], _scores(result)), ""]
    lines += ["## Size and speed", "", *_table(["", "before", "after"], _sizes(facts))]
    if facts["busy"]:
        lines += ["", facts["busy"]]
    if (saved := facts.get("eight_bit")) is not None:
        lines += ["", "## Eight bits", "", f"`{saved['file']}` has weights of eight bits ({saved['options']}).", ""]
        lines += _table(["", "ONNX in float32", "ONNX in eight bits"], _eight_bit(result, facts))
    return "\n".join(lines)


def _table(titles: list[str], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table in Markdown."""
    row = "| {} |".format
    return [row(" | ".join(cells)) for cells in (titles, ["---"] * len(titles), *rows)]


def _scores(result: xr.Dataset) -> Iterable[tuple[str, ...]]:
    for metric in result["metric"].values.tolist():
        names = ("whole_score", "shrunk_score", "shrunk_change")
        before, after, change = (float(result[name].sel(metric=metric)) for name in names)
        low, high = result["shrunk_change_ci"].sel(metric=metric, bound=["lower", "upper"]).values.tolist()
        yield plain(metric), f"{before:.3f}", f"{after:.3f}", f"{change:+.3f} [{low:+.3f}, {high:+.3f}]"


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
    for timed in facts["timed"]:
        yield _shape(timed), f"{timed['before']:.1f}", f"{timed['after']:.1f}"
    times, least, most = facts["times_as_fast"]
    yield "times as fast, by rounds", "", f"{times:.2f} [{least:.2f}, {most:.2f}]"


def _eight_bit(result: xr.Dataset, facts: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    saved, metrics = facts["eight_bit"], result["metric"].values.tolist()
    for metric, *both in zip(
        metrics, *(result[f"{name}_score"].values for name in ("shrunk", "eight_bit")), strict=True
    ):
        yield plain(metric), *(f"{score:.3f}" for score in both)
    yield "megabytes", *(f"{size:.1f}" for size in saved["megabytes"])
    for timed, both in zip(facts["timed"], saved["milliseconds"], strict=True):
        yield _shape(timed), *(f"{time:.1f}" for time in both)


def _shape(timed: dict[str, Any]) -> str:
    return f"milliseconds ({timed['examples']} inputs of {timed['tokens']} tokens, where it was made)"

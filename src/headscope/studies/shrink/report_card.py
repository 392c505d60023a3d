"""The model card of a smaller model: scores, size, speed, and what was removed."""

from typing import Any

import xarray as xr

from headscope.results.hub import plain
from headscope.studies.shrink.page.own_texts import of_answers


def notes(result: xr.Dataset, facts: dict[str, Any]) -> str:
    """Markdown tables of scores, size and speed.

    * `facts`: see `study.run`, the attribute `shrinking`.
    """
    rows = []
    for metric in result["metric"].values.tolist():
        before, after = (float(result[name].sel(metric=metric)) for name in ("whole_score", "shrunk_score"))
        low, high = result["shrunk_change_ci"].sel(metric=metric, bound=["lower", "upper"]).values.tolist()
        change = float(result["shrunk_change"].sel(metric=metric))
        rows.append(f"| {plain(metric)} | {before:.3f} | {after:.3f} | {change:+.3f} [{low:+.3f}, {high:+.3f}] |")
    sizes = {
        "parameters": "{:,}",
        "megabytes": "{:.1f}",
        "pieces": "{:,}",
        "layers": "{}",
        "neurons": "{:,}",
        "heads": "{}",
        "embedding_width": "{}",
    }
    of = "" if facts.get("fine") else " of a layer"
    words = {
        "embedding_width": "numbers of an embedding",
        "pieces": "pieces of the vocabulary",
        "neurons": f"neurons{of}",
        "heads": f"heads{of}",
    }
    return "\n".join(
        [
            *(
                "## Held-out scores",
                "",
                f"Scored on {plain(result.attrs['corpus'])}.",
                "",
                *_labels(facts),
                "| metric | before | after | change with 95% interval |",
                "| --- | --- | --- | --- |",
            ),
            *(*rows, ""),
            *("## Size and speed", "", "| | before | after |", "| --- | --- | --- |"),
            *(
                f"| {words.get(name, name)} | {form.format(facts[name][0])} | {form.format(facts[name][1])} |"
                for name, form in sizes.items()
            ),
            *(
                f"| milliseconds ({timed['examples']} inputs of {timed['tokens']} tokens, where it was made) "
                f"| {timed['before']:.1f} | {timed['after']:.1f} |"
                for timed in facts["timed"]
            ),
            *_times(facts),
            *_eight_bit(result, facts),
        ]
    )


def _times(facts: dict[str, Any]) -> list[str]:
    """How many times as fast the model is, with the range of the rounds, and that the machine was busy."""
    if "times_as_fast" not in facts:
        return []
    times, least, most = facts["times_as_fast"]
    busy = ["", facts["busy"]] if facts["busy"] else []
    return [f"| times as fast, by rounds | | {times:.2f} [{least:.2f}, {most:.2f}] |", *busy]


def _labels(facts: dict[str, Any]) -> list[str]:
    """That the labels are the answers of the model before; nothing where they are not."""
    if not of_answers(facts):
        return []
    words = "Labels are the answers of the model before to texts without labels: scores say how far the model agrees"
    return [f"{words} with it, not how often either is right.", ""]


def _eight_bit(result: xr.Dataset, facts: dict[str, Any]) -> list[str]:
    """The table of the ONNX files; none without them."""
    known = facts.get("eight_bit")
    if known is None:
        return []
    scores = _scores(result, "eight_bit_score")
    times = [
        f"| milliseconds ({timed['examples']} inputs of {timed['tokens']} tokens, where it was made) "
        f"| {one:.1f} | {other:.1f} |"
        for timed, (one, other) in zip(facts["timed"], known["milliseconds"], strict=True)
    ]
    megabytes = "| megabytes | {:.1f} | {:.1f} |".format(*known["megabytes"])
    text = f"`{known['file']}` has weights of eight bits ({known['options']})."
    return [
        *("", "## Eight bits", "", text, ""),
        *("| | ONNX in float32 | ONNX in eight bits |", "| --- | --- | --- |", *scores, megabytes, *times),
    ]


def _scores(result: xr.Dataset, name: str) -> list[str]:
    """Rows of the scores of the saved model, and of it in another number format."""
    both = [result[score].values.tolist() for score in ("shrunk_score", name)]
    rows = zip(result["metric"].values.tolist(), *both, strict=True)
    return [f"| {plain(metric)} | {one:.3f} | {other:.3f} |" for metric, one, other in rows]

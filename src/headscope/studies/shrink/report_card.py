"""The model card of a smaller model: scores, size, speed, and what was removed."""

from typing import Any

import xarray as xr

from headscope.results.hub import plain


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
    }
    words = {"pieces": "pieces of the vocabulary", "neurons": "neurons of a layer", "heads": "heads of a layer"}
    return "\n".join(
        [
            *(
                "## Held-out scores",
                "",
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
        ]
    )

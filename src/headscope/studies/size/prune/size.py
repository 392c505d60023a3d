"""The scores and the size of a pruned model for its card."""

import xarray as xr

from headscope.outputs.size_and_speed import BATCH, TOKENS
from headscope.report.numbers import Numbers
from headscope.report.shared_findings import unlearned
from headscope.report.wording import estimate
from headscope.results.tables import markdown_table, plain
from headscope.studies.size.prune.promise import promise


def scores_and_size(result: xr.Dataset, task: str, share: float, seconds: tuple[float, float]) -> str:
    """Markdown tables of scores and size.

    * `result`: with the attribute `pruning`; `share`: fraction of removed heads of the saved model.
    * `seconds`: of a forward pass before and after.
    """
    both = [result.sel(share_removed=share_removed, method="nearest") for share_removed in (0.0, share)]
    rows = []
    for metric in result["metric"].values.tolist():
        change = estimate(both[1], "score_change", metric=metric)
        scores = [f"{estimate(point, 'pruned_score', metric=metric):.3f}" for point in both]
        rows.append((metric, *scores, f"{change:+.3f} [{change.lower:+.3f}, {change.upper:+.3f}]"))
    cached = []
    if "cache_bytes" in result:
        cached = [("bytes of keys and values a token", *(f"{int(point['cache_bytes']):,}" for point in both))]
    sizes = [
        ("parameters", *(f"{int(point['parameters']):,}" for point in both)),
        ("megabytes", *(f"{float(point['megabytes']):.1f}" for point in both)),
        *cached,
        (
            f"multiplications per token ({TOKENS} tokens)",
            *(f"{float(point['multiplications']):,.0f}" for point in both),
        ),
        (
            f"milliseconds ({BATCH} inputs of {TOKENS} tokens, where it was pruned)",
            *(f"{1000 * second:.1f}" for second in seconds),
        ),
    ]
    said = unlearned(result) or promise(Numbers(result), share)
    lines = [f"## Scores on {plain(task)} (dev)", "", f"Scored on {plain(result.attrs['corpus'])}.", ""]
    lines += [*markdown_table(["metric", "before", "after", "change with 95% interval"], rows), ""]
    lines += [f"{said.topic}. {said.text}", "", "## Size and speed", ""]
    return "\n".join([*lines, *markdown_table(["", "before", "after"], sizes)])

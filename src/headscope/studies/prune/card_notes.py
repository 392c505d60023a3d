"""Scores, size and speed before and after pruning, for the model card."""

import xarray as xr

from headscope.models.model_size import BATCH, TOKENS
from headscope.results.hub import plain
from headscope.studies.prune.page.promise import promise, unlearned


def scores_and_size(result: xr.Dataset, task: str, share: float, seconds: tuple[float, float]) -> str:
    """Markdown tables of scores and size.

    * `result`: with the attribute `pruning`; `share`: fraction of removed heads of the saved model.
    * `seconds`: of a forward pass before and after.
    """
    whole, kept = (result.sel(share_removed=each, method="nearest") for each in (0.0, share))
    rows = []
    for metric in result["metric"].values.tolist():
        change = float(kept["score_change"].sel(metric=metric))
        low, high = kept["score_change_ci"].sel(metric=metric, bound=["lower", "upper"]).values.tolist()
        values = [float(each["pruned_score"].sel(metric=metric)) for each in (whole, kept)]
        rows.append(f"| {metric} | {values[0]:.3f} | {values[1]:.3f} | {change:+.3f} [{low:+.3f}, {high:+.3f}] |")
    sizes = {
        "parameters": [f"{int(each['parameters']):,}" for each in (whole, kept)],
        "megabytes": [f"{float(each['megabytes']):.1f}" for each in (whole, kept)],
        f"multiplications per token ({TOKENS} tokens)": [
            f"{float(each['multiplications']):,.0f}" for each in (whole, kept)
        ],
        f"milliseconds ({BATCH} inputs of {TOKENS} tokens, where it was pruned)": [
            f"{1000 * each:.1f}" for each in seconds
        ],
    }
    lacks = unlearned(result)
    promised = [lacks] if lacks else promise(result, share)
    return "\n".join(
        [
            *(f"## Scores on {plain(task)} (dev)", ""),
            *("| metric | before | after | change with 95% interval |", "| --- | --- | --- | --- |", *rows, ""),
            *(f"{said.topic}. {said.text}\n" for said in promised),
            *("## Size and speed", "", "| | before | after |", "| --- | --- | --- |"),
            *(f"| {name} | {before} | {after} |" for name, (before, after) in sizes.items()),
        ]
    )

"""Findings of pruning: how many heads went, what it cost, and how much smaller the model is."""

import json
from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.parts import Finding
from headscope.report.wording import examples, measured, number, several

FIRST = 8


def findings(result: xr.Dataset) -> list[Finding]:
    """What pruning came to, at the share of heads that the saved model has lost."""
    return [*_heads(result), *_scores(result), *_reach(result), *_size(result), *_order(result), _choice(result)]


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    left = result["heads_left"].sel(share_removed=_share(result))
    whole = int(result["heads_left"].isel(share_removed=0).sum())
    gone = whole - int(left.sum())
    least, most = int(left.min()), int(left.max())
    kept = f"each layer keeps {least}" if least == most else f"layers keep {least} to {most}"
    text = f"{gone} of {whole} heads ({gone / whole:.0%}) were removed; {kept}."
    if spared := int(result.attrs["spared"]):
        keep = json.loads(result.attrs["pruning"])["keep"]
        text += f" {several(spared, 'head')} stayed although it was their turn: no layer keeps fewer than {keep}."
    yield Finding("Heads removed", text)


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    for metric in result["metric"].values.tolist():
        place = {"metric": metric, "share_removed": _share(result)}
        before = float(result["pruned_score"].sel(metric=metric).isel(share_removed=0))
        after, change = (measured(result, name, **place) for name in ("pruned_score", "score_change"))
        if after is None or change is None:
            continue
        bounds = [float(change[bound]) for bound in ("lower", "upper")]
        told = f"a change of {number(float(change))} [{number(bounds[0])}, {number(bounds[1])}]"
        sure = "which other examples could undo" if bounds[0] <= 0 <= bounds[1] else "beyond what chance explains"
        name = label("metric", metric).capitalize()
        text = f"{name} was {number(before)} and is {number(float(after))}: {told}, {sure}.{examples(after)}"
        yield Finding(f"Cost: {label('metric', metric)}", text)


def _reach(result: xr.Dataset) -> Iterator[Finding]:
    """How many heads can go before the main metric surely changes."""
    change = measured(result, "score_change", metric=result["metric"].values[0])
    if change is None or change.sizes["share_removed"] < 2:
        return
    unsure = (change["lower"] <= 0) & (change["upper"] >= 0)
    reached = unsure.cumprod("share_removed").astype(bool)
    share = float(change["share_removed"][reached][-1])
    tried = float(change["share_removed"][-1])
    name = label("metric", str(change["metric"].item()))
    end = "the most that was tried" if share == tried else f"up to {tried:.0%} were tried"
    yield Finding("How many can go", f"Up to {share:.0%} of the heads, {name} changes by no more than chance; {end}.")


def _size(result: xr.Dataset) -> Iterator[Finding]:
    before, after = (int(each) for each in result["parameters"].sel(share_removed=[0.0, _share(result)]))
    reloaded = ", ".join(
        f"{label('metric', metric)} {number(float(result['reloaded_score'].sel(metric=metric)))}"
        for metric in result["metric"].values.tolist()
    )
    text = f"{before:,} parameters became {after:,} ({1 - after / before:.0%} fewer)."
    yield Finding("Size", f"{text} The saved model, loaded from its folder, scores the same: {reloaded}.")


def _order(result: xr.Dataset) -> Iterator[Finding]:
    order = tidy(result["removed_at"]).sort_values("value").to_dict("records")
    if order:
        names = ", ".join(head_name(row["layer"], row["head"]) for row in order[:FIRST])
        text = f"The least important heads, in the order in which they went: {names}."
        yield Finding(
            "First to go", f"{text} An order is no test: which of them matters surely, 'headscope ablate' tells."
        )


def _choice(result: xr.Dataset) -> Finding:
    asked = json.loads(result.attrs["pruning"])
    by = f"importance ({asked['estimator']})" if asked["by"] == "importance" else "the score without each head"
    anew = ", asked anew after each step" if asked["again"] else ""
    trained = (
        f" Trained for {several(asked['finetune_epochs'], 'epoch')} after each step."
        if asked["finetune_epochs"]
        else ""
    )
    chosen, scored = result.attrs["chosen_on"], result.attrs["corpus"]
    same = " The same examples chose the heads and scored them, which flatters the score." if chosen == scored else ""
    return Finding("How heads were chosen", f"By {by} on {chosen}{anew}; scored on {scored}.{trained}{same}")


def _share(result: xr.Dataset) -> float:
    """The share of heads that the saved model has lost."""
    left = result["heads_left"].sum("layer")
    kept = left == left[0] - result["removed_at"].count()
    return float(result["share_removed"][kept][0])

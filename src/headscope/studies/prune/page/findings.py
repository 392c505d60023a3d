"""Findings of pruning: the heads removed, the change of the score, and the size of the model."""

import json
from collections.abc import Iterator
from math import isnan

import xarray as xr

from headscope.errors import HeadscopeError
from headscope.figures import with_interval
from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.parts import Finding
from headscope.report.shared_findings import least_found, one_training, unlearned
from headscope.report.wording import estimate, examples, measured, n_examples, number, of_array, several
from headscope.studies.prune.page.promise import promise

FIRST = 8


def highlights(result: xr.Dataset) -> list[Finding]:
    """The promise, the heads removed, the change of the main metric, and the size and speed of the saved model."""
    left = result["heads_left"].sel(share_removed=_share(result))
    total = int(result["heads_left"].isel(share_removed=0).sum())
    least, most = int(left.min()), int(left.max())
    kept = f"Each layer keeps {least}." if least == most else f"Layers keep {least} to {most}."
    removed = Finding(f"{total - int(left.sum())} of {total} heads are removed", kept)
    first = [unlearned(result) or next(promise(result, _share(result)), None)]
    said = [one if one.verdict == "holds" else Finding(one.topic, one.text) for one in first if one]
    return [*said, removed, *_main_score(result), *_smaller(result)] if _share(result) else [*said, removed]


def _main_score(result: xr.Dataset) -> Iterator[Finding]:
    metric = str(result["metric"].values[0])
    score = result["pruned_score"].sel(metric=metric)
    before, after = float(score.isel(share_removed=0)), float(score.sel(share_removed=_share(result)))
    name = label("metric", metric).capitalize()
    if isnan(before) or isnan(after):
        yield Finding(f"{name} is not known", "The result has no score of the whole model or of the pruned one.")
        return
    labels = {"metric": metric, "share_removed": _share(result)}
    change = estimate(result, "score_change", **labels)
    sure = "The difference is beyond chance." if change.is_not(0) else "The difference may be chance."
    if not change.is_not(0) and (array := measured(result, "score_change", **labels)) is not None:
        sure += f" {_least(result, array)}"
    yield Finding(f"{name} was {number(before)} and is {number(after)}", sure.rstrip())


def _least(result: xr.Dataset, change: xr.DataArray) -> str:
    """The smallest fall that the examples would have shown."""
    counts = n_examples(with_interval(result, "pruned_score"))
    return least_found(change, label("metric", str(change["metric"].item())), counts[1]) if counts else ""


def _smaller(result: xr.Dataset) -> Iterator[Finding]:
    """The size and the speed of the saved model beside the whole one."""
    places = [0.0, _share(result)]
    before, after = (int(count) for count in result["parameters"].sel(share_removed=places))
    topic = f"The model is {1 - after / before:.0%} smaller"
    text = f"The saved model has {after / 1e6:.2f} million parameters."
    megabytes = measured(result, "megabytes", share_removed=places)
    if megabytes is not None and bool(megabytes.notnull().all()):
        total, kept = map(float, megabytes)
        text = f"The saved model takes {number(kept, '.1f')} MB in the place of {number(total, '.1f')} MB."
    yield Finding(topic, text)
    if "forward_s" in result.attrs:
        seconds = json.loads(result.attrs["forward_s"])
        inputs = f"{seconds['inputs']} inputs of {seconds['tokens']} tokens"
        share = f"{seconds['after'] / seconds['before']:.0%}"
        yield Finding(f"It takes {share} of the time", f"Measured on a forward pass of {inputs}.")


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, at the share of heads that the saved model has lost."""
    lacks = unlearned(result)
    first = [lacks] if lacks else [*promise(result, _share(result))]
    return [*first, *_heads(result), *_scores(result), *_size(result), *_order(result), _choice(result)]


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    left = result["heads_left"].sel(share_removed=_share(result))
    total = int(result["heads_left"].isel(share_removed=0).sum())
    gone = total - int(left.sum())
    least, most = int(left.min()), int(left.max())
    kept = f"each layer keeps {least}" if least == most else f"layers keep {least} to {most}"
    text = f"{gone} of {total} heads ({gone / total:.0%}) were removed; {kept}."
    if spared := int(result.attrs["spared"]):
        keep = json.loads(result.attrs["pruning"])["keep"]
        text += f" {several(spared, 'head')} of low importance stayed: no layer keeps fewer than {keep}."
    yield Finding("Heads removed", text)


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    for metric in result["metric"].values.tolist():
        labels = {"metric": metric, "share_removed": _share(result)}
        before = float(result["pruned_score"].sel(metric=metric).isel(share_removed=0))
        after, change = (measured(result, name, **labels) for name in ("pruned_score", "score_change"))
        if after is None or change is None or isnan(before):
            continue
        moved = of_array(change)
        sure = "beyond chance" if moved.is_not(0) else "which may be chance"
        name = label("metric", metric).capitalize()
        text = f"{name} was {number(before)} and is {number(float(after))}: a change of {moved.text}, {sure}."
        yield Finding(f"Cost: {label('metric', metric)}", text + examples(after))


def _size(result: xr.Dataset) -> Iterator[Finding]:
    before, after = (int(count) for count in result["parameters"].sel(share_removed=[0.0, _share(result)]))
    text = f"{before:,} parameters became {after:,} ({1 - after / before:.0%} fewer)."
    scores = result["reloaded_score"].dropna("metric")
    if scores.size:
        reloaded = ", ".join(
            f"{label('metric', str(score['metric'].item()))} {number(float(score))}" for score in scores
        )
        text += f" The saved model, loaded from its folder, scores the same: {reloaded}."
    yield Finding("Size", text)


def _order(result: xr.Dataset) -> Iterator[Finding]:
    order = tidy(result["removed_at"]).sort_values("value").to_dict("records")
    if order:
        names = ", ".join(head_name(row["layer"], row["head"]) for row in order[:FIRST])
        text = f"By importance, in the order of removal: {names}."
        yield Finding("Removed first", f"{text} This order is not a test; 'headscope ablate' tests single heads.")
        if json.loads(result.attrs["pruning"])["by"] == "importance":
            yield one_training()


def _choice(result: xr.Dataset) -> Finding:
    choice = json.loads(result.attrs["pruning"])
    importance = f"importance ({label('estimator', choice['estimator'])})"
    by = importance if choice["by"] == "importance" else "the score without each head"
    anew = ", computed again after each step" if choice["again"] else ""
    trained = (
        f" Trained for {several(choice['finetune_epochs'], 'epoch')} after each step."
        if choice["finetune_epochs"]
        else ""
    )
    chosen, scored = result.attrs["chosen_on"], result.attrs["corpus"]
    same = " The same examples chose the heads and scored them: the score is too good." if chosen == scored else ""
    return Finding("How heads were chosen", f"By {by} on {chosen}{anew}; scored on {scored}.{trained}{same}")


def _share(result: xr.Dataset) -> float:
    """The share of heads that the saved model has lost."""
    left = result["heads_left"].sum("layer")
    kept = left == left[0] - result["removed_at"].count()
    if not kept.any():
        raise HeadscopeError("'removed_at' and 'heads_left' of the result disagree; run the study 'prune' again")
    return float(result["share_removed"][kept][0])

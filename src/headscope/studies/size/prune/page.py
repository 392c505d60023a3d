"""The page of `prune`: what is promised, the heads removed, the change of the score, and the size of the model."""

from collections.abc import Iterator
from dataclasses import replace

import xarray as xr

from headscope.corpora.tasks.metrics import LOWER_IS_BETTER
from headscope.errors import HeadscopeError
from headscope.figures import heatmap
from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.claims import paired
from headscope.report.declared import Chart, NumberTable, StudyCard, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.shared_findings import least_found, one_training, unlearned
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, examples, n_examples, number, several
from headscope.statistics.significance import RATE
from headscope.studies.size.prune.card import sentences, unit_of
from headscope.studies.size.prune.promise import promise
from headscope.studies.size.prune.published import published

COST, MODEL, FIRST = "Score after pruning", "The pruned model", 8
OTHERS = {"random": "at random", "bad": "of the least important"}
# Sizes of the model: the unit, the title of the column, and how it is written.
SIZES = {
    "megabytes": (1.0, "MB", ".1f"),
    "multiplications": (1e6, "M mult.", ".1f"),
    "cache_bytes": (1.0, "Cache", "bytes"),
}


def saved_share(result: xr.Dataset) -> float:
    """The share of heads that the saved model has lost."""
    left = result["heads_left"].sum("layer")
    same = left == left[0] - result["removed_at"].count()
    if not same.any():
        raise HeadscopeError("'removed_at' and 'heads_left' of the result disagree; run the study 'prune' again")
    return float(result["share_removed"][same][0])


def promised(numbers: Numbers) -> Finding | None:
    """What is promised of the saved model, or that its task is not learned."""
    return unlearned(numbers.result) or promise(numbers, saved_share(numbers.result))


def first(numbers: Numbers) -> Finding | None:
    """The promise, a claim only if it holds: a broken one does not weaken what else the page says."""
    finding = promised(numbers)
    return finding if finding is None or finding.verdict == "holds" else Finding(finding.topic, finding.text)


def not_promised(numbers: Numbers) -> Finding | None:
    """The test of a promise that does not hold."""
    finding = promised(numbers)
    return finding if finding and finding.verdict in ("fails", "undecided") else None


def removed(numbers: Numbers) -> Finding:
    """How many heads are removed, and how many layers keep."""
    shared, head = unit_of(numbers.result)
    heads = numbers.result["heads_left"] // shared
    left, total = heads.sel(share_removed=saved_share(numbers.result)), int(heads.isel(share_removed=0).sum())
    least, most = int(left.min()), int(left.max())
    text = f"Each layer keeps {least}." if least == most else f"Layers keep {least} to {most}."
    if shared > 1:
        text = f"The {shared} query heads that share a KV head go with it. {text}"
    if spared := int(numbers.words["spared"]):
        keep = numbers.attribute("pruning")["keep"]
        text += f" {several(spared, head)} of low importance stayed: no layer keeps fewer than {keep}."
    return Finding(f"{total - int(left.sum())} of {total} {head}s are removed", text)


def cost(numbers: Numbers) -> Finding | None:
    """The change of the main metric."""
    return next(costs(numbers), None)


def other_costs(numbers: Numbers) -> list[Finding]:
    """The changes of the other metrics."""
    return [*costs(numbers)][1:]


def costs(numbers: Numbers) -> Iterator[Finding]:
    """The change of each metric by pruning."""
    share, metrics = saved_share(numbers.result), numbers.result["metric"].values.tolist()
    for metric in metrics if share else ():
        labels, name = {"metric": metric, "share_removed": share}, label("metric", metric)
        before, after = numbers("pruned_score", share_removed=0.0, metric=metric), numbers("pruned_score", **labels)
        change, scores = numbers("score_change", **labels), numbers.array("pruned_score", **labels)
        text = f"A change of {change}, {'beyond chance' if change.is_not(0) else 'which may be chance'}."
        if not change.is_not(0) and metric == metrics[0] and (counts := n_examples(scores)):
            text += f" {least_found(numbers.array('score_change', **labels), name, counts[1])}".rstrip()
        topic = f"{name.capitalize()} was {number(before.value)} and is {number(after.value)}"
        yield Finding(topic, text + examples(scores))


def smaller(numbers: Numbers) -> Iterator[Finding]:
    """The size and the speed of the saved model, compared with the whole one."""
    if share := saved_share(numbers.result):
        before, after = (numbers("parameters", share_removed=step).value for step in (0.0, share))
        full, less = (numbers("megabytes", share_removed=step).value for step in (0.0, share))
        text = f"The saved model takes {number(less, '.1f')} MB instead of {number(full, '.1f')} MB."
        yield Finding(f"The model is {1 - after / before:.0%} smaller", text)
        if "cache_bytes" in numbers.result:
            before, after = (numbers("cache_bytes", share_removed=step).value for step in (0.0, share))
            text = f"A token adds {number(after, 'bytes')} of keys and values instead of {number(before, 'bytes')}."
            yield Finding(f"Its cache is {1 - after / before:.0%} smaller", text)
        seconds = numbers.attribute("forward_s")
        inputs = f"{seconds['inputs']} inputs of {seconds['tokens']} tokens"
        topic = f"It takes {seconds['after'] / seconds['before']:.0%} of the time"
        yield Finding(topic, f"Measured on a forward pass of {inputs}.")


def reloaded(numbers: Numbers) -> Finding:
    """The score of the saved model after loading."""
    scores = [
        f"{label('metric', metric)} {number(numbers('reloaded_score', metric=metric).value)}"
        for metric in numbers.labels("reloaded_score", "metric")
    ]
    return Finding("Loaded from its folder", f"The saved model scores the same: {', '.join(scores)}.")


def order(numbers: Numbers) -> Iterator[Finding]:
    """The heads that were removed first."""
    shared, _ = unit_of(numbers.result)
    rows = tidy(numbers.array("removed_at")[:, ::shared]).sort_values("value").to_dict("records")
    names = ", ".join(head_name(row["layer"], (row["head"] + shared - 1) // shared) for row in rows[:FIRST])
    text = f"{'KV heads b' if shared > 1 else 'B'}y importance, in the order of removal: {names}."
    yield Finding("Removed first", f"{text} This order is not a test; 'headscope ablate' tests single heads.")
    if numbers.attribute("pruning")["by"] == "importance":
        yield one_training()


def choice(numbers: Numbers) -> Finding:
    """How heads were chosen, and on which examples."""
    how, chosen, scored = numbers.attribute("pruning"), numbers.words["chosen_on"], numbers.words["corpus"]
    importance = f"importance ({label('estimator', how['estimator'])})"
    _, head = unit_of(numbers.result)
    importance += " of all query heads of a KV head together" if head != "head" else ""
    by = importance if how["by"] == "importance" else f"the score without each {head}"
    again, epochs = ", computed again after each step" if how["again"] else "", how["finetune_epochs"]
    trained = f" Trained for {several(epochs, 'epoch')} after each step." if epochs else ""
    same = " The same examples chose the heads and scored them: the score is too good." if chosen == scored else ""
    return Finding("How heads were chosen", f"By {by} on {chosen}{again}; scored on {scored}.{trained}{same}")


def removal_order(numbers: Numbers) -> Figure:
    """The place of each head in the order of removal."""
    array = numbers.array("removed_at")
    last = float(array.max())
    caption = "Pale heads were removed first, dark heads last; the remaining heads have no cell."
    return Figure("removed_at", MODEL, heatmap(array, domain=(-0.2 * last, last)), caption, "removed_at")


def subnetworks(numbers: Numbers) -> Iterator[Finding]:
    """Whether the remaining heads score higher than equally many random ones, and than the least important.

    Nothing is claimed of heads that the same examples have chosen.
    """
    if numbers.words["chosen_on"] == numbers.words["corpus"]:
        return
    metric = str(numbers.result["metric"].values[0])
    lower, name = metric in LOWER_IS_BETTER, label("metric", metric)
    good, p = (
        numbers("subnetwork_score", subnetwork="good", metric=metric),
        numbers("subnetwork_p_value", metric=metric),
    )
    for part, words in OTHERS.items():
        other = numbers("subnetwork_score", subnetwork=part, metric=metric)
        lead = numbers("subnetwork_lead", subnetwork=part, metric=metric)
        yield Finding.judged(
            replace(paired(good, other, -lead if lower else lead, numbers.n("subnetwork_lead")), q=p.value),
            f"{name.capitalize()} with the heads that stay alone, the output of all others 0: {good}; with as many "
            f"{words}: {other}; difference {lead}, on the same examples. Random parts that do as well or better, "
            f"the heads that stay among them: {p.value:.0%}; below {RATE:.0%}, with 20 draws or more, a lead is "
            "claimed.",
            holds=f"The heads that stay do better than as many {words}",
            fails=f"The heads that stay do no better than as many {words}",
            undecided=f"The heads that stay, and as many {words}: no clear difference",
            unit="examples",
        )


def shares(numbers: Numbers) -> Table:
    """A row for each share of removed heads: change of the main metric, size of the model."""
    metrics, steps = numbers.result["metric"].values.tolist(), numbers.result["share_removed"].values.tolist()
    sizes = [title for name, (_, title, _) in SIZES.items() if name in numbers.result]
    main, *further = [label("metric", metric).capitalize() for metric in metrics]
    titles = ["Heads", main, "Change", "95% interval", *further, *sizes]
    caption = (
        "Score and size at each share of removed heads. Change: from the whole model, with its interval. "
        "M mult.: millions of multiplications for a token."
    )
    if "cache_bytes" in numbers.result:
        caption += " Cache: the keys and values that a token adds."
    rows = [(f"{share:.0%}", _cells(numbers, share, metrics)) for share in steps]
    return titled("shares", caption, "Removed", titles, rows)


def _cells(numbers: Numbers, share: float, metrics: list[str]) -> Cells:
    result = numbers.result.sel(share_removed=share)
    main, *further = [(number(float(result["pruned_score"].sel(metric=metric)), ".3f"), "") for metric in metrics]
    change, interval = estimate(result, "score_change", metric=metrics[0]).cell("+.3f")
    there = {name: how for name, how in SIZES.items() if name in result}
    sizes = [(number(float(result[name]) / unit, spec), "") for name, (unit, _, spec) in there.items()]
    heads = str(int(result["heads_left"].sum()))
    return [(heads, ""), main, (change, ""), (interval, ""), *further, *sizes]


OVER_SHARES = {"dim": "share_removed", "percent": True}
CHANGE = "Score minus that of the unpruned model on the same examples. A band that includes 0 may be chance."
PARTS = NumberTable(
    "subnetworks",
    "Scores of the whole model with a part of its heads, without training again: all heads; those that stay (good); as "
    "many of the least important (bad); as many at random, with intervals over their draws too. Lead: the score with "
    "the heads that stay, minus this one.",
    {"subnetwork": "Heads", "metric": "Score"},
    {"subnetwork_score": ("Value", ".3f"), "subnetwork_lead": ("Lead", "")},
)
PAGE = StudyParts(
    highlights=(first, removed, cost, smaller),
    findings=(not_promised, other_costs, subnetworks, reloaded, order, choice),
    charts=(
        Chart("pruned_score", "curve", COST, "With 95% intervals over examples.", style=OVER_SHARES),
        Chart("score_change", "curve", COST, CHANGE, style=OVER_SHARES | {"reference": 0.0}),
        Chart("parameters", "curve", MODEL, "Embeddings and feed-forward layers stay.", style=OVER_SHARES),
        removal_order,
    ),
    tables=(shares, PARTS, published),
    by_layer=(),
    card=StudyCard(main_numbers=("removed_at",), sentences=sentences),
)

"""Questions besides single heads: special heads of other results, pairs, one head of a layer, skipped layers."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import head_name, label
from headscope.report.claims import POINT, Claim, no_worse, over_heads
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, agree, estimate, measured, number, of_array, rate, several
from headscope.statistics.significance import RATE, q_no_worse

MOST_PAIRS = 8
SKIPPED = {"attention": "attention", "layer": "attention and feed-forward part"}


def special(numbers: Numbers) -> Iterator[Finding]:
    """Whether the task needs the special heads of a result more than others, and whether it can do without."""
    result, metric = numbers.result, numbers.main_metric
    name = label("metric", metric)
    for source in numbers.labels("special_gain", "head_source"):
        at = {"head_source": source, "metric": metric}
        lost, random = (-estimate(result, part, **at) for part in ("special_gain", "special_random_gain"))
        heads, n = int(result["special_heads"].sel(head_source=source)), int(result["special_gain_n_examples"].sel(at))
        q = float(result["special_q_value"].sel(at))
        yield Finding.judged(
            Claim(lost.value, random.value, estimate(result, "special_lead", **at), n, q),
            f"Without the {several(heads, 'head')} that {source} marks {name} is worse by {lost.text}, without as many "
            f"random heads of the same layers by {random.text} (permutation test: q {rate(q)}).",
            holds=f"The task needs the heads of {source} more than others",
            fails=f"The task needs the heads of {source} no more than others",
            undecided=f"It cannot be told whether the task needs the heads of {source} more than others",
            unit="examples",
        )
        yield Finding.judged(
            _harmless(result, source, metric, n),
            f"Disabled together, the {several(heads, 'head')} that {source} marks cost {lost.text} of {name}.",
            holds=f"The heads of {source} can be disabled for less than {number(POINT)} of {name}",
            fails=f"The heads of {source} cost {number(POINT)} of {name} or more",
            undecided=f"The heads of {source} are not shown to cost less than {number(POINT)} of {name}",
            unit="examples",
        )


def _harmless(result: xr.Dataset, source: str, metric: str, n: int) -> Claim:
    """The claim that the heads of a result cost less than a point, corrected for the number of results."""
    gains = with_interval(result, "special_gain").sel(metric=metric, drop=True)
    q = q_no_worse(gains, POINT, n, of_answers=metric == "accuracy")
    claim = no_worse(of_array(gains.sel(head_source=source)), POINT, n)
    return claim if q is None else replace(claim, q=float(q.sel(head_source=source)))


def pairs(numbers: Numbers) -> Iterator[Finding]:
    result, metric = numbers.result, numbers.main_metric
    excess = numbers.array("pair_excess", metric=metric)
    name, q = label("metric", metric), result["pair_q_value"].sel(metric=metric)
    sure = excess.where((q < RATE) & (excess["lower"] > 0))
    count, total = int(sure.notnull().sum()), excess.sizes["head_pair"]
    first = int((sure if count else excess).fillna(-np.inf).argmax("head_pair"))
    most, pair = excess.isel(head_pair=first), _named(excess["head_pair"][first].item())
    mean = estimate(result, "mean_pair_excess", metric=metric)
    which = "alike heads" if numbers.attribute("options")["pairs"] == "alike" else "any heads"
    bounds = of_array(most)
    yield Finding.judged(
        Claim(bounds.value, 0.0, bounds, int(result["pair_excess_n_examples"]), float(q[first])),
        f"Without heads {pair} together {name} is worse by {bounds.text} more than the sum of the losses without each "
        f"(q {rate(float(q[first]))} among {several(total, 'pair')} of {which}); mean over pairs {mean.signed}.",
        holds=f"The heads of {several(count, 'pair')} replace each other",
        fails="No two heads replace each other",
        undecided="No two heads are shown to replace each other",
        unit="examples",
    )


def one_head(numbers: Numbers) -> Iterator[Finding]:
    result, metric = numbers.result, numbers.main_metric
    gains = numbers.array("one_head_gain", metric=metric)
    there, n = gains.dropna("layer"), int(result["one_head_gain_n_examples"])
    q, name, total = q_no_worse(there, POINT, n, of_answers=metric == "accuracy"), label("metric", metric), there.size
    rates = np.ones(total) if q is None else q.values
    enough = int(((rates < RATE) & (there["lower"].values > -POINT)).sum())
    # One head is enough in half of the layers if it is in the one at the middle of their order.
    middle = int(np.lexsort((-there["lower"].values, rates))[(total - 1) // 2])
    claim = replace(no_worse(of_array(there[middle]), POINT, n), q=float(rates[middle]))
    yield Finding.judged(
        claim,
        f"With one head of a layer, the one that is best on the other half of the examples, the loss of {name} is "
        f"clearly below {number(POINT)} in {enough} of {several(total, 'layer')} (corrected).",
        holds="One head is enough in half of the layers",
        fails="One head is not enough in half of the layers",
        undecided="It cannot be told whether one head is enough in half of the layers",
        unit="examples",
    )


def across_tasks(numbers: Numbers) -> Iterator[Finding]:
    result, metric = numbers.result, numbers.main_metric
    for other in numbers.labels("task_correlation", "other_task"):
        at, this = {"other_task": other, "metric": metric}, result.attrs["task"]
        correlation = estimate(result, "task_correlation", **at)
        heads = int(result["head_gain"].sel(metric=metric).notnull().sum())
        shared, expected = result["shared_heads"].sel(at), float(result["shared_heads_expected"].sel(other_task=other))
        p = float(result["shared_heads_p_value"].sel(at))
        alike = f"The same heads matter to {this} and {other}"
        yield Finding.judged(
            over_heads(correlation, heads),
            f"Rank correlation over {heads} heads of the loss of {label('metric', metric)} without each: "
            f"{correlation.text}. In the top tenth by loss of both tasks {several(int(shared), 'head')} "
            f"{agree(int(shared), 'is', 'are')} the same; by chance {number(expected)} (p {rate(p)}).",
            holds=alike if correlation.value > 0 else f"Heads that matter to {this} matter less to {other}",
            fails=f"Which heads matter to {this} says nothing about {other}",
            undecided=f"It cannot be told whether the same heads matter to {this} and {other}",
            unit="",  # more examples give no more heads
        )


def gates(numbers: Numbers) -> Finding:
    array = numbers.array("gate_correlation")
    loss, *others = [of_array(correlation) for correlation in array]
    names = [label("estimator", name) for name in array["ranking"].values[1:]]
    texts = "".join(f"; with importance ({name}) {other.text}" for name, other in zip(names, others, strict=True))
    heads, alike = numbers.n("gate_correlation"), "Gates and disabled heads agree on which heads matter"
    return Finding.judged(
        over_heads(Estimate(loss.value, loss.value, loss.value), heads),  # its interval is over heads already
        f"Rank correlation over {heads} heads of trained gates with the loss of score without each head: {loss.text}"
        f"{texts}.",
        holds=alike if loss.value > 0 else "Gates close at the heads that the score needs",
        fails="Trained gates say nothing about which heads the score needs",
        undecided="It cannot be told whether gates and disabled heads agree on which heads matter",
        unit="",  # more examples give no more heads
    )


def special_table(numbers: Numbers) -> Table:
    result, metric = numbers.result, numbers.main_metric
    rows: list[tuple[str, Cells]] = [
        (source, [
            (str(int(result["special_heads"].sel(head_source=source))), ""),
            *(estimate(result, name, head_source=source, metric=metric).cell("+.3f")
              for name in ("special_gain", "special_random_gain", "special_lead")),
            (rate(float(result["special_q_value"].sel(head_source=source, metric=metric))), ""),
        ])
        for source in numbers.labels("special_gain", "head_source")
    ]  # fmt: skip
    caption = (
        f"Change of {label('metric', metric)} without the special heads of a result, and without as many random heads "
        "of the same layers (mean over draws), with 95% intervals. Lead: how much more is lost without the special "
        "heads. q: permutation test, corrected for the results."
    )
    return titled("special", caption, "Result", ("Heads", "Special", "Random", "Lead", "q"), rows)


def pair_table(numbers: Numbers) -> Table:
    result, metric = numbers.result, numbers.main_metric
    excess = numbers.array("pair_excess", metric=metric)
    rows: list[tuple[str, Cells]] = []
    order = np.argsort(-excess.values, kind="stable")[:MOST_PAIRS]
    for pair in excess["head_pair"].values[order].tolist():
        at = {"head_pair": pair, "metric": metric}
        cells: Cells = [estimate(result, name, **at).cell("+.3f") for name in ("pair_gain", "pair_excess")]
        rows.append((_named(pair), [*cells, (rate(float(result["pair_q_value"].sel(at))), "")]))
    caption = (
        f"Pairs of heads: change of {label('metric', metric)} without both, and the fall beyond the sum of the falls "
        "without each, with 95% intervals; the largest. q: false discovery rate among all pairs."
    )
    return titled("pairs", caption, "Heads", ("Change without both", "Beyond the sum", "q"), rows)


def layer_table(numbers: Numbers) -> Table:
    result, metric = numbers.result, numbers.main_metric
    arrays = {"One head": measured(result, "one_head_gain", metric=metric)}
    skipped = measured(result, "skipped_gain", metric=metric)
    if skipped is not None:
        arrays |= {f"Without {words}": skipped.sel(skipped=part) for part, words in SKIPPED.items()}
    there = {words: array for words, array in arrays.items() if array is not None}
    if not there:
        raise MissingNumber("one_head_gain")
    heads = {"Heads": result["one_head"].sel(metric=metric)} if "one_head" in result else {}
    rows: list[tuple[str, Cells]] = [
        (
            str(layer),
            [
                *(_chosen(array.sel(layer=layer)) for array in heads.values()),
                *(of_array(array.sel(layer=layer)).known_cell("+.3f") for array in there.values()),
            ],
        )
        for layer in result["layer"].values.tolist()
    ]
    caption = (
        f"Change of {label('metric', metric)}, with 95% intervals: with one head of a layer, chosen on the other half "
        "of the examples (Michel et al. 2019, Table 6), and where the layer or its attention is skipped. Heads: those "
        "that the two halves chose."
    )
    return titled("parts", caption, "Layer", [*heads, *there], rows)


def _chosen(halves: xr.DataArray) -> tuple[str, str] | None:
    """The heads of a layer that the halves of the examples chose; None in a layer without heads."""
    heads = dict.fromkeys(head_name(int(halves["layer"]), int(head)) for head in halves.values if head > 0)
    return (", ".join(heads), "") if heads else None


def _named(pair: str) -> str:
    return pair.replace(",", " and ")

"""Does attention explain the outputs: what alterations of attention change, as findings, a table and a figure."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import bars, with_interval
from headscope.report.claims import LEAST_EXAMPLES, Claim, above, paired
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Table, titled
from headscope.report.wording import Cell, Estimate, estimate, number
from headscope.statistics.interval_tests import q_above
from headscope.statistics.significance import RATE

NAMES = {
    "largest_10": "largest 10% erased",
    "random_10": "random 10% erased",
    "largest_50": "largest 50% erased",
    "random_50": "random 50% erased",
    "permuted": "permuted",
    "uniform": "even",
    "other": "another of the same output",
}
SECTION, LEAD = "Altered attention", "erased_decision_lead"
# Outputs that change by less are called nearly the same.
NEARLY = 0.05


def altered(result: xr.Dataset) -> Iterator[Finding]:
    """What outputs depend on, and whether another attention has the same."""
    if "altered_output" not in result:
        return
    distance = str(result.attrs.get("distance", "change of the output"))
    for alteration, made in (("largest_10", _erased), ("permuted", _permuted), ("other", _other)):
        if np.isfinite(_altered(result, "altered_output", alteration).value):
            yield made(result, distance)


def more(result: xr.Dataset) -> Iterator[Finding]:
    """Heads alone, and effective attention."""
    yield from _heads(result)
    if "effective_share" in result:
        yield from _effective(result)


def _erased(result: xr.Dataset, distance: str) -> Finding:
    largest, random = (_altered(result, "altered_output", name) for name in ("largest_10", "random_10"))
    lead = estimate(result, "erased_lead", erased_share=0.1)
    return Finding.judged(
        paired(largest, random, lead, _inputs(result, "largest_10")),
        f"Without the largest 10% of the weights of each row in all layers the output changes by {largest.text}, "
        f"without random ones as many by {random.text} ({distance}): {lead.signed}." + _decisions(result),
        holds="Outputs depend on the largest attention weights more than on random ones",
        fails="The largest attention weights matter no more than random ones",
        undecided="It cannot be told whether the largest attention weights matter more than random ones",
        unit="inputs",
    )


def _decisions(result: xr.Dataset) -> str:
    if "altered_decision" not in result:
        return ""
    largest, random = (_altered(result, "altered_decision", name).percent for name in ("largest_10", "random_10"))
    lead = f": {estimate(result, LEAD, erased_share=0.1).points} points" if LEAD in result else ""
    return f" The decision is another one in {largest} and {random} of the inputs{lead}."


def _permuted(result: xr.Dataset, distance: str) -> Finding:
    permuted, even = (_altered(result, "altered_output", name) for name in ("permuted", "uniform"))
    return Finding.judged(
        above(permuted, NEARLY, _inputs(result, "permuted")),
        f"With the weights of each row permuted in all layers the output changes by {permuted.text} ({distance}, "
        f"median over permutations), with even weights by {even.text}; below {NEARLY} it is nearly the same.",
        holds="Outputs depend on which tokens heads attend to",
        fails="Outputs hardly depend on which tokens heads attend to",
        undecided="It cannot be told whether outputs depend on which tokens heads attend to",
        unit="inputs",
    )


def _other(result: xr.Dataset, distance: str) -> Finding:
    other, permuted = (_altered(result, "altered_distance", name) for name in ("other", "permuted"))
    lead, change = estimate(result, "other_lead"), _altered(result, "altered_output", "other")
    return Finding.judged(
        Claim(other.value, permuted.value, lead, _inputs(result, "other")),
        f"The farthest attention of all heads that a search by gradient finds is {other.text} nats from the model's "
        f"own (at most 0.69) and changes the output by {number(change.value)} ({distance}); permuted "
        f"attention is {permuted.text} away.",
        holds="Another attention, farther than a permuted one, has the same outputs",
        fails="No attention as far as a permuted one was found to have the same outputs",
        undecided="It cannot be told whether attention as far as a permuted one can have the same outputs",
        unit="inputs",
    )


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    if "head_other_lead" not in result:
        return
    lead, inputs = with_interval(result, "head_other_lead"), int(result["head_other_lead_n_examples"].max())
    heads, rates = int(lead.notnull().sum()), q_above(lead, 0.0)
    if heads and rates is not None and inputs >= LEAST_EXAMPLES:
        yield Finding(
            "Heads alone",
            f"For {int((rates < RATE).sum())} of {heads} heads another attention, surely farther than a permuted one, "
            f"has the same output (q below {RATE}; {inputs} inputs, one head at a time).",
        )


def _effective(result: xr.Dataset) -> Iterator[Finding]:
    share, like = result["effective_share"], result["effective_correlation"]
    inputs = int(result["effective_share_n_examples"].max())
    if inputs and not share.notnull().any():
        return
    if inputs:
        text = (
            f"In {inputs:,} inputs with more tokens than a head is wide, {float(share.mean()):.0%} of the squared "
            f"length of attention lies outside of the null space of the values (mean over heads; least "
            f"{float(share.min()):.0%}). Its correlation with all of it is {float(like.mean()):.2f} (mean over heads). "
            "In shorter inputs all attention is effective."
        )
    else:
        text = "No input has more tokens than a head is wide, so that all attention is effective."
    yield Finding("Effective attention", text)


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each alteration; none where no attention was altered."""
    if "altered_output" not in result:
        return []
    rows = [
        (words, [*_cells(result, alteration), (str(_inputs(result, alteration)), "")])
        for alteration, words in NAMES.items()
    ]
    caption = (
        "Attention of all layers altered at once, with 95% intervals. Change: of the output "
        f"({result.attrs.get('distance', '')}). Other decisions: share of inputs of which another class or word is "
        "predicted. Divergence: Jensen-Shannon divergence of attention from the model's own, in nats. Jain and Wallace "
        "(2019), Serrano and Smith (2019)."
    )
    return [titled("altered", caption, "Attention", ("Change", "Other decisions", "Divergence", "Inputs"), rows)]


def figures(result: xr.Dataset) -> Iterator[Figure]:
    """The change of the output by each alteration."""
    if "altered_output" in result:
        array = with_interval(result, "altered_output").drop_vars("n_examples", errors="ignore")
        array = array.assign_coords(alteration=list(NAMES.values())).rename("altered")
        caption = "Change of the output with altered attention in all layers, with 95% intervals over inputs."
        yield Figure("altered_output", SECTION, bars(array), caption, "altered_output")


def _cells(result: xr.Dataset, alteration: str) -> Iterator[Cell | None]:
    for name in ("altered_output", "altered_decision", "altered_distance"):
        yield _altered(result, name, alteration).known_cell() if name in result else None


def _altered(result: xr.Dataset, name: str, alteration: str) -> Estimate:
    return estimate(result, name, alteration=alteration)


def _inputs(result: xr.Dataset, alteration: str) -> int:
    return int(result["altered_output_n_examples"].sel(alteration=alteration))

"""Does attention explain the outputs: what alterations of attention change, of all layers or of one."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, matrix
from headscope.report.claims import LEAST_EXAMPLES, Claim, above, paired
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Cell, Estimate, estimate, number, of_array
from headscope.statistics.significance import RATE, q_above

NAMES = {
    "largest_10": "largest 10% erased",
    "random_10": "random 10% erased",
    "largest_50": "largest 50% erased",
    "random_50": "random 50% erased",
    "permuted": "permuted",
    "uniform": "even",
    "other": "another with the same output",
}
SECTION, LEAD, OF_LAYER = "Altered attention", "erased_decision_lead", "layer_altered_output"
# Outputs that change by less are called nearly the same.
NEARLY = 0.05


def distance(numbers: Numbers) -> str:
    """What the change of an output is, in words."""
    return str(numbers.result.attrs.get("distance", "change of the output"))


def erased(numbers: Numbers) -> Finding:
    """Whether outputs depend on the largest weights."""
    largest, random = (numbers("altered_output", alteration=name) for name in ("largest_10", "random_10"))
    lead = numbers("erased_lead", erased_share=0.1)
    return Finding.judged(
        paired(largest, random, lead, numbers.n("altered_output", alteration="largest_10")),
        f"Without the largest 10% of the weights of each row in all layers the output changes by {largest.text}, "
        f"without as many random ones by {random.text} ({distance(numbers)}): {lead.signed}."
        + _decisions(numbers.result),
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


def permuted(numbers: Numbers) -> Finding:
    """Whether outputs depend on where heads look."""
    shuffled, even = (numbers("altered_output", alteration=name) for name in ("permuted", "uniform"))
    return Finding.judged(
        above(shuffled, NEARLY, numbers.n("altered_output", alteration="permuted")),
        f"With the weights of each row permuted in all layers the output changes by {shuffled.text} "
        f"({distance(numbers)}, median over permutations), with even weights by {even.text}; below {NEARLY} it is "
        f"nearly the same.",
        holds="Outputs depend on which tokens heads attend to",
        fails="Outputs hardly depend on which tokens heads attend to",
        undecided="It cannot be told whether outputs depend on which tokens heads attend to",
        unit="inputs",
    )


def other(numbers: Numbers) -> Finding:
    """Whether another attention has the same outputs."""
    another, permuted = (numbers("altered_distance", alteration=name) for name in ("other", "permuted"))
    lead, change = numbers("other_lead"), numbers("altered_output", alteration="other")
    return Finding.judged(
        Claim(another.value, permuted.value, lead, numbers.n("altered_output", alteration="other")),
        f"The farthest attention of all heads that a search by gradient finds is {another.text} nats from the model's "
        f"own (at most 0.69) and changes the output by {number(change.value)} ({distance(numbers)}); permuted "
        f"attention is {permuted.text} away.",
        holds="Another attention, farther than a permuted one, has the same outputs",
        fails="No attention as far as a permuted one was found to have the same outputs",
        undecided="It cannot be told whether attention as far as a permuted one can have the same outputs",
        unit="inputs",
    )


def heads_alone(numbers: Numbers) -> Iterator[Finding]:
    """In how many heads another attention, farther than a permuted one, has the same output."""
    lead, inputs = numbers.array("head_other_lead"), int(numbers.result["head_other_lead_n_examples"].max())
    heads, rates = int(lead.notnull().sum()), q_above(lead, 0.0)
    if heads and rates is not None and inputs >= LEAST_EXAMPLES:
        yield Finding(
            "Heads alone",
            f"For {int((rates < RATE).sum())} of {heads} heads another attention, clearly farther than a permuted one, "
            f"has the same output (q below {RATE}; {inputs} inputs, one head at a time).",
        )


def effective(numbers: Numbers) -> Iterator[Finding]:
    """How much of attention can reach the output."""
    result = numbers.result
    share, like = result["effective_share"], result["effective_correlation"]
    inputs = int(result["effective_share_n_examples"].max())
    if inputs and not share.notnull().any():
        return
    if inputs:
        text = (
            f"In {inputs:,} inputs with more tokens than a head has dimensions, {float(share.mean()):.0%} of the "
            "squared "
            f"length of attention lies outside of the null space of the values (mean over heads; least "
            f"{float(share.min()):.0%}). Its correlation with all of it is {float(like.mean()):.2f} (mean over heads). "
            "In shorter inputs all attention is effective."
        )
    else:
        text = "No input has more tokens than a head has dimensions, so all attention is effective."
    yield Finding("Effective attention", text)


def table(numbers: Numbers) -> Table:
    """A row for each alteration."""
    numbers.array("altered_output")
    rows = [
        (words, [*_cells(numbers.result, name), (str(numbers.n("altered_output", alteration=name)), "")])
        for name, words in NAMES.items()
    ]
    caption = (
        "Attention of all layers altered at once, with 95% intervals. Change: of the output "
        f"({numbers.result.attrs.get('distance', '')}). Other decisions: share of inputs of which another class or "
        "word is predicted. Divergence: Jensen-Shannon divergence of attention from the model's own, in nats. Jain and "
        "Wallace (2019), Serrano and Smith (2019)."
    )
    return titled("altered", caption, "Attention", ("Change", "Other decisions", "Divergence", "Inputs"), rows)


def _cells(result: xr.Dataset, alteration: str) -> Iterator[Cell | None]:
    for name in ("altered_output", "altered_decision", "altered_distance"):
        yield _altered(result, name, alteration).known_cell() if name in result else None


def chart(numbers: Numbers) -> Figure:
    """The change of the output by each alteration."""
    array = numbers.array("altered_output").drop_vars("n_examples", errors="ignore")
    array = array.assign_coords(alteration=list(NAMES.values())).rename("altered")
    caption = "Change of the output with altered attention in all layers, with 95% intervals over inputs."
    return Figure("altered_output", SECTION, bars(array), caption, "altered_output")


def layer_chart(numbers: Numbers) -> Figure:
    """The change of the output by alteration and layer."""
    array = _changes(numbers)
    named = array.assign_coords(alteration=[NAMES[name] for name in array["alteration"].values.tolist()])
    caption = "Change of the output with the attention of one layer alone altered, mean over inputs."
    picture = matrix(named.drop_vars("n_examples", errors="ignore").rename("altered"), side=300)
    return Figure(OF_LAYER, SECTION, picture, caption, OF_LAYER)


def layer_table(numbers: Numbers) -> Table:
    """A row for each alteration, a column for each layer."""
    array = _changes(numbers)
    layers = array["layer"].values.tolist()
    rows: list[tuple[str, Cells]] = [
        (NAMES[name], [of_array(array.sel(alteration=name, layer=layer)).known_cell() for layer in layers])
        for name in array["alteration"].values.tolist()
    ]
    caption = (
        f"Change of the output ({numbers.result.attrs.get('distance', '')}) with the attention of one layer alone "
        "altered, with 95% intervals."
    )
    return titled("altered_layers", caption, "Attention", [f"Layer {layer}" for layer in layers], rows)


def layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """How much outputs depend on where the heads of a layer attend to."""
    array = _changes(numbers)
    for name in ("permuted", "largest_10"):
        if name in array["alteration"].values:
            words, change = f"change of the output, attention {NAMES[name]}", array.sel(alteration=name, drop=True)
            yield LayerNumber("Altered attention", words, change, is_share=False, is_needed=True)


def _changes(numbers: Numbers) -> xr.DataArray:
    """The change by alteration and layer, without alterations that are of all layers alone."""
    return numbers.array(OF_LAYER).dropna("alteration", how="all")


def _altered(result: xr.Dataset, name: str, alteration: str) -> Estimate:
    return estimate(result, name, alteration=alteration)

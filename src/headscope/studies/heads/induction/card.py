"""What a head does with repetitions, sinks and distances, on its card, and the kinds of heads for the atlas."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.kinds import where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.report.wording import number, rate
from headscope.statistics.significance import RATE

WORDS = {
    "induction": "the token after an earlier copy",
    "duplicate": "an earlier copy of the same token",
    "previous": "the previous token",
}
FOCUS_WORDS = {"first": "the first token", "delimiter": "delimiters", "punctuation": "periods and commas"}
# A head copies if it raises a token's own logit above the mean for this many of the tokens.
COPIES = 0.75
HIDDEN = ("control", "gain", "natural_control", "natural_gain", "planted_control", "planted_gain")
MORE = ("copying_most", "copying_eigenvalues")
SINK = 0.4  # as the other kinds of heads that are shares of attention


def repetition_kinds(numbers: Numbers) -> Iterator[HeadKind]:
    """Heads that are special for a repetition."""
    for relation, word in (("induction", "induction"), ("duplicate", "earlier copy")):
        yield from where_true(numbers.result["special"].sel(relation=relation) == 1, relation, word)


def retrieval_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that find a planted pair at all depths."""
    return where_true((numbers.array("planted_special") == 1).any("context"), "retrieval", "retrieval")


def copying_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that copy."""
    surely = numbers.array("copying_q_value") < RATE
    return where_true((numbers.array("copying") >= COPIES) & surely, "copying", "copies")


def sink_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that have a sink."""
    return where_true((numbers.array("sink_attention") >= SINK).any("focus"), "sink", "sink")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Repetitions, copying, sinks and distance."""
    if rows := of_variable(numbers, "attention"):
        texts = (f"{WORDS[row.labels[0]]} {value(row)}, without {number(row.baseline)}{_q(row)}" for row in rows)
        yield Finding("Repeated random tokens", f"{'; '.join(texts)}.")
    if rows := of_variable(numbers, "natural_attention"):
        texts = (f"{WORDS[row.labels[0]]} {value(row)}, elsewhere {number(row.baseline)}" for row in rows)
        yield Finding("Repetitions of the corpus", f"{'; '.join(texts)}.")
    for row in of_variable(numbers, "copying"):
        most, share = (value(further) for name in MORE for further in of_variable(numbers, name))
        yield Finding(
            "Copying",
            f"Raises a token's own logit for {value(row)} of the tokens ({ranked(row)}){_q(row)}, and more than all "
            f"others for {most}; the eigenvalues of its circuit add up to {share} of their absolute values.",
        )
    if rows := of_variable(numbers, "sink_attention"):
        norms = {row.labels: row for row in of_variable(numbers, "value_norm")}
        yield Finding("Sinks", f"{'; '.join(_sink(row, norms.get(row.labels)) for row in rows)}.")
    for row in of_variable(numbers, "mean_distance"):
        yield Finding("Distance", f"Attends to tokens {value(row)} tokens away on average ({ranked(row)}).")


def _sink(row: Row, norm: Row | None) -> str:
    moved = "" if norm is None else f", where what it moves is {number(norm.value)} times as long as elsewhere"
    return f"{FOCUS_WORDS[row.labels[0]]} {value(row)} (uniform {number(row.baseline)}){moved}"


def _q(row: Row) -> str:
    return f", q {rate(row.q)}" if row.q == row.q else ""


KINDS = (repetition_kinds, retrieval_kind, copying_kind, sink_kind)
MAIN = ("attention.induction", "attention.duplicate", "copying", "sink_attention.first", "mean_distance")
ATTENTION = ("attention", "natural_attention", "planted_attention")
# Attention to the same places without a repetition, and that of uniform attention to sinks.
BASELINES = {name: name.replace("attention", "control") for name in ATTENTION} | {"sink_attention": "sink_share"}
# Of gains, corrected for all heads.
RATES = {name: name.replace("attention", "q_value") for name in ATTENTION} | {"copying": "copying_q_value"}
CARD = StudyCard(HIDDEN, main_numbers=MAIN, baselines=BASELINES, rates=RATES, sentences=sentences)

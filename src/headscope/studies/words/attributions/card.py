"""What a head moves from each class of token, beside its attention (Kobayashi et al. 2020, section 2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, cases, of_variable, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.parts import Finding
from headscope.report.wording import number

HIDDEN = ("attention_to", "effective_correlation", "head_other_change", "head_other_lead")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The lengths of what the head moves, with the attention to the class; whether its attention could be another."""
    if rows := of_variable(numbers, "norm_to"):
        texts = "; ".join(f"{row.words} {value(row)} ({ranked(row)}{_attention(result, row)})" for row in rows)
        lengths = "Shares of the lengths of what the head moves, |a f(x)|, by class of token"
        yield Finding("What it moves", f"{lengths}: {texts}; {cases(rows[0])}.")
    if rows := of_variable(numbers, "effective_share"):
        text = f"{value(rows[0])} of the squared length of its attention reaches its output ({ranked(rows[0])})"
        yield Finding("Effective attention", f"{text}, in inputs with more tokens than it is wide; {cases(rows[0])}.")
    if rows := of_variable(numbers, "head_other_distance"):
        text = f"An attention {value(rows[0])} nats from its own, at most 0.69, has the same output ({ranked(rows[0])})"
        yield Finding("Another attention", f"{text}; {cases(rows[0])}.")


def _attention(result: xr.Dataset, row: Row) -> str:
    """The attention to the class of a row; empty where the result does not have it."""
    if "attention_to" not in result:
        return ""
    share = result["attention_to"].sel(layer=row.layer, head=row.head, token_class=row.labels[0])
    return f"; attention {number(float(share))}"


CARD = StudyCard(hidden=HIDDEN, main_numbers=("norm_to.sep",), sentences=sentences)

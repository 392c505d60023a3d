"""The best head for each kind of repetition, on the half of the sequences on which it was not chosen."""

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.published import published_table
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, measured, several
from headscope.studies.induction.page.published import CAPTION, figures

WORDS = {
    "induction": "the token behind an earlier copy",
    "duplicate": "an earlier copy of the same token",
    "previous": "the previous token",
}
FOCUS_WORDS = {"first": "the first token", "delimiter": "delimiters", "punctuation": "periods and commas"}
BY_LAYER = ("gain", "copying", "sink_attention", "mean_distance")
COLUMNS = ("Head", "Attention", "Without", "Gain", "Heads", "Heads in the corpus", "Tokens")


def tables(result: xr.Dataset) -> list[Table]:
    """The relations, each with its chosen head and the number of heads that are special; published figures."""
    caption = (
        "The head that gains most by repetitions of random tokens, chosen on one half of the sequences and scored on "
        "the other, with 95% intervals. Without: attention to the same places where nothing is repeated; for the "
        "previous token that of uniform attention. Heads: those that gain 0.1 or more beyond chance, in random tokens "
        "and in the corpus."
    )
    known = [name for name in result["relation"].values.tolist() if chosen_head(result, name)]
    rows = [(WORDS[name].capitalize(), _cells(result, name)) for name in known]
    own = [titled("relations", caption, "Attention to", COLUMNS, rows)] if rows else []
    return [*own, *published_table(figures(result), CAPTION)]


def chosen_head(result: xr.Dataset, relation: str) -> str:
    """The head that was chosen for a relation; "" if none was."""
    layer, head = (result[f"chosen_{name}"].sel(relation=relation).item() for name in ("layer", "head"))
    return head_name(int(layer), int(head)) if layer == layer else ""


def special_count(result: xr.Dataset, relation: str, prefix: str = "") -> int | None:
    """The number of heads that gain enough beyond chance; None where there is no such repetition."""
    special = measured(result, f"{prefix}special", relation=relation)
    return None if special is None else int((special == 1).sum())


def _cells(result: xr.Dataset, relation: str) -> Cells:
    attention, control, gain = (
        estimate(result, f"chosen_{name}", relation=relation).known_cell(".2f")
        for name in ("attention", "control", "gain")
    )
    counts = [special_count(result, relation, prefix) for prefix in ("", "natural_")]
    tokens = int(result["chosen_attention_n_examples"].sel(relation=relation))
    return [
        (chosen_head(result, relation), ""),
        attention,
        control,
        gain,
        *(None if count is None else (several(count, "head"), "") for count in counts),
        (f"{tokens:,}", ""),
    ]

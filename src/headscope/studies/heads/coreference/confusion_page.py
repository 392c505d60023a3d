"""How firmly heads choose among candidates (Lin et al. 2019, sections 4 and 5): sentences, a table, a figure."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import by_layer, heatmap
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import number, strongest

SECTION = "How certain heads are"
# BERT-base, Table 2 of the paper, in the order of its conditions.
PAPER = {
    "phrase between, same number": 0.97,
    "phrase between, other number": 0.93,
    "relative clause between, same number": 0.85,
    "relative clause between, other number": 0.81,
    "object, same gender": 1.01,
    "object, other gender": 0.92,
    "relative clause between, same gender": 0.99,
    "relative clause between, other gender": 0.89,
    "clause and object, both the same gender": 1.57,
    "clause and object, the object the same gender": 1.52,
    "clause and object, the clause the same gender": 1.49,
    "clause and object, both another gender": 1.39,
}


def has_conditions(result: xr.Dataset) -> bool:
    """Whether the corpus asks under several named conditions, as that of Lin et al. does."""
    return "confusion" in result and result.sizes["condition"] > 1


def confused(numbers: Numbers) -> Finding:
    """The mean over heads against a uniform choice, and the head with the lowest entropy."""
    mean, uniform = numbers("mean_confusion", condition="all"), numbers("uniform_confusion", condition="all")
    *_, surest = strongest(numbers.array("confusion", condition="all"))
    return Finding(
        "Confusion",
        f"Over the candidates, attention has {mean} bits of entropy in the average head; a uniform choice has "
        f"{uniform}. Heads reach down to {number(surest.value)}. Entropy says how certain a head is, not whether it "
        f"is right. n = {numbers.n('confusion', condition='all'):,} questions.",
    )


def table(numbers: Numbers) -> Table:
    """Confusion by condition, beside a uniform choice, the surest head and the paper's BERT-base."""
    rows: list[tuple[str, Cells]] = []
    for name in numbers.labels("confusion", "condition"):
        *_, surest = strongest(numbers.array("confusion", condition=name))
        cells: Cells = [
            numbers("mean_confusion", condition=name).cell(".2f"),
            numbers("uniform_confusion", condition=name).cell(),
            surest.estimate.cell(".2f"),
            (surest.head, ""),
            (f"{PAPER[name]:.2f}", "") if name in PAPER else None,
            (f"{numbers.n('confusion', condition=name):,}", ""),
        ]
        rows.append((name, cells))
    columns = ["Mean of heads", "Uniform", "Lowest head", "Head", "Lin et al.: BERT-base", "Questions"]
    caption = (
        "Entropy of attention over the candidates in bits, with 95% intervals; low is certain. The lowest head was "
        "chosen on these same questions. The paper's figures are those of Table 2, in the order of its conditions."
    )
    return titled("confusion", caption, "Condition", columns, rows)


def figures(numbers: Numbers) -> Iterator[Figure]:
    """Confusion of every head, by layer and by condition."""
    overall = numbers.array("confusion", condition="all").drop_vars("n_examples")
    uniform = numbers("uniform_confusion", condition="all")
    chart = by_layer(overall, reference=uniform.value, reference_label="uniform choice")
    caption = "A dot for each head, a line for the layer's mean. After Lin et al. (2019), section 4; low is certain."
    yield Figure("confusion-by_layer", SECTION, chart, caption, "confusion")
    if has_conditions(numbers.result):
        caption = "The same, head by head. A condition with two distractors has three candidates, and more entropy."
        yield Figure("confusion", SECTION, heatmap(numbers.array("confusion")), caption, "confusion")

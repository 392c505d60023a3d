"""How surely heads choose among candidates (Lin et al. 2019, sections 4 and 5): sentences, a table and a figure."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import by_layer, heatmap, with_interval
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, number, strongest

SECTION = "How surely heads choose"
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


def confused(result: xr.Dataset) -> Iterator[Finding]:
    """The mean over heads beside a uniform choice, and the head that chooses most surely."""
    if "confusion" not in result:
        return
    mean, uniform = estimate(result, "mean_confusion", condition="all"), _uniform(result, "all")
    *_, surest = strongest(with_interval(result, "confusion").sel(condition="all"))
    n = int(result["confusion_n_examples"].sel(condition="all"))
    conditions = "; ".join(
        f"{name} {number(float(result['mean_confusion'].sel(condition=name)))} of {number(_uniform(result, name))}"
        for name in result["condition"].values.tolist()[1:]
    )
    yield Finding(
        "Confusion",
        f"Over the candidates, attention has {mean.text} bits of entropy in the average head; a uniform choice has "
        f"{number(uniform)}. Heads reach down to {number(surest.value)}. It says how surely a head chooses, not "
        f"whether it is right.{f' By condition: {conditions}.' if conditions else ''} n = {n:,} questions.",
    )


def confusion_tables(result: xr.Dataset) -> Iterator[Table]:
    """Confusion by condition, beside a uniform choice, the surest head and the paper's BERT-base."""
    if "confusion" not in result:
        return
    heads = with_interval(result, "confusion")
    rows: list[tuple[str, Cells]] = []
    for name in result["condition"].values.tolist():
        *_, surest = strongest(heads.sel(condition=name))
        paper = (f"{PAPER[name]:.2f}", "") if name in PAPER else None
        cells: Cells = [
            estimate(result, "mean_confusion", condition=name).cell(".2f"),
            (number(_uniform(result, name)), ""),
            surest.estimate.cell(".2f"),
            (surest.head, ""),
            paper,
            (f"{int(result['confusion_n_examples'].sel(condition=name)):,}", ""),
        ]
        rows.append((name, cells))
    columns = ["Mean of heads", "Uniform", "Lowest head", "Head", "Lin et al.: BERT-base", "Questions"]
    caption = (
        "Entropy of attention over the candidates in bits, with 95% intervals; low is sure. The lowest head is the "
        "lowest of all on these questions. The paper's figures are those of Table 2, in the order of its conditions."
    )
    yield titled("confusion", caption, "Condition", columns, rows)


def confusion_figures(result: xr.Dataset) -> Iterator[Figure]:
    """Confusion of every head, by layer and by condition."""
    if "confusion" not in result:
        return
    array = with_interval(result, "confusion")
    caption = "A dot for each head, a line for the layer's mean. After Lin et al. (2019), section 4; low is sure."
    overall = array.sel(condition="all", drop=True)
    uniform = _uniform(result, "all")
    yield Figure(
        "confusion-by_layer",
        SECTION,
        by_layer(overall, reference=uniform, reference_label="uniform choice"),
        caption,
        "confusion",
    )
    if has_conditions(result):
        caption = "The same, head by head. A condition with two distractors has three candidates, and more entropy."
        yield Figure("confusion", SECTION, heatmap(array), caption, "confusion")


def _uniform(result: xr.Dataset, condition: str) -> float:
    return float(result["uniform_confusion"].sel(condition=condition))

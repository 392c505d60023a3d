"""Chosen heads and baselines by kind of mention, as Table 2 of Clark et al. (2019); by gender; gaps by head."""

from collections.abc import Iterator
from dataclasses import replace

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.best_heads import BestHeads, ChosenHead, chosen_heads
from headscope.report.numbers import Numbers
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Cell, estimate, rate
from headscope.statistics.significance import LEAST_CASES, RATE

WORDS = {
    "nearest": "nearest mention",
    "head_match": "nearest mention of the same head word",
    "rules": "rules",
    "random": "chance",
}
KINDS = BestHeads(
    ("mention_type",),
    score="chosen_accuracy",
    gains=("chosen_gain",),
    reference="chosen_reference",
    cases="accuracy_n_examples",
    held_out="chosen_accuracy_n_examples",
)
METHOD = "Method"
ROWS = {"nearest": "Nearest", "head_match": "Head match", "rules": "Rules", "random": "Random"}
# BERT-base on CoNLL-2012, documents cut to 128 tokens: all, pronoun, proper, nominal.
PAPER_KINDS = ("all", "pronoun", "proper", "nominal")
PAPER = {
    "Clark et al.: nearest": (27, 29, 29, 19),
    "Clark et al.: head match": (52, 47, 67, 40),
    "Clark et al.: rules": (69, 70, 77, 60),
    "Clark et al.: head 5-4": (65, 64, 73, 58),
}
MOST_HEADS = 10


def kinds(result: xr.Dataset) -> list[ChosenHead]:
    """The kinds of mentions of a result, "all" first; without those that a half of the documents lacks."""
    names = baselines(result)
    heads = [
        replace(
            head, baselines={name: estimate(result, "chosen_baseline", baseline=name, **head.labels) for name in names}
        )
        for head in chosen_heads(result, KINDS)
    ]
    return [head for head in heads if head.is_known]


def baselines(result: xr.Dataset) -> list[str]:
    """The baselines that find any antecedent; no pronoun that a corpus asks about has the head word of a name."""
    useful = ~(result["baseline_accuracy"].max("mention_type") <= 0)  # what was not measured is not left out
    return [str(name) for name in result["baseline"].values[useful.values]]


def asks(result: xr.Dataset) -> bool:
    """True if the corpus names the pronouns and their candidates itself."""
    return any(name in result for name in ("f1", "attention_gap", "confusion"))


def table_2(numbers: Numbers) -> Table | None:
    """Chosen heads and baselines by kind of mention."""
    result = numbers.result
    if not (heads := kinds(result)):
        return None
    paper = "" if asks(result) else " Clark et al. (2019): BERT-base on CoNLL-2012, Table 2."
    caption = (
        "Mentions whose antecedent is found, in per cent with 95% intervals. Heads are chosen on one half of the "
        "corpus, all rows are scored on the other half. Special: at least 10 points over nearest and head match, "
        f"q < {RATE}, at least {LEAST_CASES} mentions.{paper}"
    )
    rows: list[tuple[str, Cells]] = [
        *((ROWS[name], [kind.baselines[name].cell(".1f", 100) for kind in heads]) for name in heads[0].baselines),
        ("Best head", [kind.score.cell(".1f", 100) for kind in heads]),
        ("best head is", [(kind.head, "") for kind in heads]),
        ("gain over nearest and head match", [kind.gain.cell("+.1f", 100) for kind in heads]),
        ("q", [(rate(kind.q), "") for kind in heads]),
        ("special", [("yes" if kind.special else "", "") for kind in heads]),
        ("mentions", [(f"{kind.held_out:,}", "") for kind in heads]),
        *([] if asks(result) else _paper(heads)),
    ]
    return titled("table-2", caption, METHOD, [kind.name for kind in heads], rows)


def _paper(heads: list[ChosenHead]) -> Iterator[tuple[str, Cells]]:
    for name, values in PAPER.items():
        scores: dict[str, int] = dict(zip(PAPER_KINDS, values, strict=True))
        yield name, [(str(scores[kind.name]), "") for kind in heads]


def by_gender(numbers: Numbers) -> Table:
    """F1 of GAP by the gender of the pronoun: of baselines, of the best heads, and of the chosen head."""
    result, overall = numbers.result, numbers.array("f1", gender="overall")
    genders = result["gender"].values.tolist()
    rows = _baselines(result, genders, "", "")
    for layer, head in _highest(overall):
        part = result.sel(layer=layer, head=head)
        rows.append((f"Head {head_name(layer, head)}", [*_f1(part, "f1", genders), _ratio(part, "bias_ratio")]))
    if "chosen_f1" in result:
        cells = [*_f1(result, "chosen_f1", genders), _ratio(result, "chosen_bias_ratio")]
        rows.append(("Head chosen on one half, scored on the other half", cells))
        rows += _baselines(result, genders, "chosen_", ", on that other half")
    caption = (
        f"F1 by the gender of the pronoun, and feminine over masculine, with 95% intervals: baselines and the "
        f"{MOST_HEADS} best heads on all passages. The best of many heads look too good; the head chosen on one half "
        "does not; below it are the baselines on the other half."
    )
    return titled("gender", caption, METHOD, [*genders, "feminine / masculine"], rows)


def _highest(array: xr.DataArray) -> list[tuple[int, int]]:
    """Layer and head of the heads with the highest values, the highest first."""
    flat = array.stack(position=["layer", "head"]).dropna("position")
    return flat["position"].values[(-flat).argsort().values][:MOST_HEADS].tolist()


def _baselines(result: xr.Dataset, genders: list[str], prefix: str, where: str) -> list[tuple[str, Cells]]:
    return [
        (
            f"{ROWS[str(name)]}{where}",
            [*_f1(part, f"{prefix}baseline_f1", genders), _ratio(part, f"{prefix}baseline_bias_ratio")],
        )
        for name in result["baseline"].values
        if (part := result.sel(baseline=name))["baseline_f1"].sum() > 0
    ]


def _f1(part: xr.Dataset, name: str, genders: list[str]) -> Cells:
    return [estimate(part, name, gender=gender).cell(".3f") for gender in genders]


def _ratio(part: xr.Dataset, name: str) -> Cell:
    return estimate(part, name).cell(".2f")


def gaps(numbers: Numbers) -> Table:
    """The heads of WinoBias and Winogender with the largest gaps."""
    rows: list[tuple[str, Cells]] = []
    for layer, head in _highest(abs(numbers.array("attention_gap"))):
        part = numbers.result.sel(layer=layer, head=head)
        cells: Cells = [estimate(part, "attention", stereotype=name).cell(".3f") for name in ("pro", "anti")]
        cells += [estimate(part, "attention_gap").cell(".3f"), (rate(float(part["attention_gap_q"])), "")]
        cells += [estimate(part, "preference_gap").cell("+.1f", 100), (rate(float(part["preference_gap_q"])), "")]
        rows.append((head_name(layer, head), cells))
    columns = ["attention, pro", "attention, anti", "gap", "q", "preference gap (points)", "q of preference"]
    caption = (
        f"The {MOST_HEADS} heads with the largest gaps: attention of the pronoun to the occupation where it has the "
        f"gender that is expected (pro) and where it has the other (anti), with 95% intervals. Gaps have q < {RATE}."
    )
    return titled("gaps", caption, "Head", columns, rows)

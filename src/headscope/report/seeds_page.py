"""The page of joined seeds: how far they agree on heads, which heads stay in all prunings, beside published figures."""

from collections.abc import Iterator

import numpy as np

from headscope.figures import bars
from headscope.figures.labels import ESTIMATORS, head_name, name_in_words
from headscope.report.claims import above
from headscope.report.declared import Chart, NumberTable, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.published import PublishedFigure, published_table
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import first_of, number, rate, sentence_case, several
from headscope.statistics.significance import RATE

FIRST, MOST_NAMES = 10, 12
NUMBERS = {
    "importance_normalised": "importance within its layer",
    "importance": "importance",
    "head_gain": "loss of",
    "removed_at": "order of removal",
    "entropy": "entropy of attention",
}
# Prasanna et al. 2020: mean over pairs of five seeds of fine-tuned BERT-base, and heads in the masks of five prunings.
IMPORTANCE = {
    "CoLA": ".34", "MNLI": ".37", "MRPC": ".34", "QNLI": ".31", "QQP": ".25", "RTE": ".30", "SST-2": ".45",
    "STS-B": ".46", "WNLI": ".32",
}  # fmt: skip
MASKS = {
    "CoLA": (52, 4), "MNLI": (22, 23), "MRPC": (22, 24), "QNLI": (24, 19), "QQP": (8, 35), "RTE": (6, 32),
    "SST-2": (3, 47), "STS-B": (7, 70), "WNLI": (1, 45),
}  # fmt: skip
SOURCE = "Prasanna et al. 2020, recomputed from the released"


def words_of(head_number: str) -> str:
    """A number that ranks heads, in words.

    >>> words_of("importance_michel_code"), words_of("head_gain_f1"), words_of("entropy")
    ('importance (code of Michel et al.)', 'loss of F1', 'entropy of attention')
    """
    name = next(name for name in NUMBERS if head_number.startswith(name))
    rest = head_number.removeprefix(name).removeprefix("_")
    if name == "head_gain":
        return f"{NUMBERS[name]} {name_in_words(rest)}"
    return f"{NUMBERS[name]} ({ESTIMATORS.get(rest, rest)})" if rest else NUMBERS[name]


def agreement(numbers: Numbers) -> Iterator[Finding]:
    """Whether seeds agree on which heads come first, by each number."""
    heads = int(np.isfinite(numbers.array("head_place").values[0, 0]).sum())
    seeds = numbers.result.sizes["seed"]
    for name in numbers.labels("seed_agreement", "head_number"):
        value, words = numbers("seed_agreement", head_number=name), words_of(name)
        mean = f"Mean rank correlation over {several(heads, 'head')} between two of {seeds} seeds: {value}."
        if not value.tested:
            yield Finding(f"By {words}, {number(value.value)}", f"{mean} An interval needs three seeds.")
            continue
        yield Finding.judged(
            above(value, 0.0, heads),
            f"{mean} The interval is over seeds.",
            holds=f"Seeds agree on {words}, by {number(value.value)}",
            fails=f"Seeds disagree on {words}",
            undecided=f"{sentence_case(words)}: no clear agreement of seeds",
            unit="heads",
        )


def survivors(numbers: Numbers) -> Iterator[Finding]:
    """How many heads stay in all prunings, and in none, beside random prunings."""
    seeds = numbers.result.sizes["seed"]
    for name, words in (
        ("always_kept", f"stay in all {seeds} prunings"),
        ("never_kept", f"stay in no pruning of {seeds}"),
    ):
        count, chance = int(numbers(name).value), numbers(f"{name}_chance").value
        p = numbers(f"{name}_p_value").value
        more = "More than by chance" if p < RATE else "As many as by chance"
        text = f"{more}: it would be {number(chance, '.1f')} if each seed kept as many heads at random (p {rate(p)})."
        yield Finding(f"{several(count, 'head')} {words}", text)
    kept = numbers.array("kept_seeds").stack(place=("layer", "head"))
    names = [head_name(*head) for head in kept["place"].values[kept.values == seeds]]
    yield Finding("Heads that stay in all prunings", f"{first_of(names, MOST_NAMES) or 'No head does'}.")


def pairs(numbers: Numbers) -> Table:
    """The agreement by each number: the mean, and the seeds that agree least and most."""
    rows: list[tuple[str, Cells]] = []
    for name in numbers.labels("seed_agreement", "head_number"):
        matrix = numbers.result["pair_agreement"].sel(head_number=name).values
        first, second = np.triu_indices(len(matrix), 1)
        ends: Cells = []
        for extreme in (np.argmin, np.argmax):
            at = int(extreme(matrix[first, second]))
            ends.append(
                (f"{number(float(matrix[first[at], second[at]]))} (seeds {first[at] + 1} and {second[at] + 1})", "")
            )
        rows.append((words_of(name), [numbers("seed_agreement", head_number=name).cell(), *ends]))
    seeds = "; ".join(f"seed {at}: {model}" for at, model in enumerate(numbers.attribute("models"), 1))
    caption = f"Rank correlation over heads between two seeds; mean over all pairs (95% interval over seeds). {seeds}."
    return titled("agreement", caption, "Heads ranked by", ["Mean", "Least", "Most"], rows)


def places(numbers: Numbers) -> Table:
    """The heads that come first on average, with their place in each seed."""
    name = numbers.labels("seed_agreement", "head_number")[0]
    ranks = numbers.array("head_place", head_number=name).drop_vars("head_number", errors="ignore")
    stacked = ranks.transpose("seed", "layer", "head").stack(place=("layer", "head")).dropna("place")
    order = np.argsort(stacked.mean("seed").values, kind="stable")[:FIRST]
    kept = numbers.result.get("kept_seeds")
    rows: list[tuple[str, Cells]] = []
    for at in order.tolist():
        layer, head = stacked["place"].values[at]
        cells: Cells = [(number(value, ".0f"), "") for value in stacked.values[:, at].tolist()[:MOST_NAMES]]
        stays: Cells = [] if kept is None else [(str(int(kept.sel(layer=layer, head=head))), "")]
        rows.append((head_name(layer, head), [*cells, *stays]))
    titles = [f"Seed {at}" for at in stacked["seed"].values.tolist()[:MOST_NAMES]]
    caption = f"The {FIRST} heads that come first on average, by {words_of(name)}: their place in each seed" + (
        ", and the number of seeds in whose pruned model they stay." if kept is not None else "."
    )
    return titled("places", caption, "Head", [*titles, *([] if kept is None else ["Stays in"])], rows)


def published(numbers: Numbers) -> list[Table]:
    """The agreement and the survivors of BERT-base beside those here."""
    caption = (
        "BERT-base (uncased), fine-tuned with five seeds, compared with these models. Its prunings end where the "
        "score falls "
        "below 90%, so that they keep other numbers of heads; over eight tasks and five seeds no head stays in all 40, "
        "and none is removed in all."
    )
    return published_table(_figures(numbers), caption, model="BERT-base")


def _figures(numbers: Numbers) -> Iterator[PublishedFigure]:
    task = numbers.words.get("task", "")
    for name in numbers.labels("seed_agreement", "head_number"):
        here = numbers("seed_agreement", head_number=name).cell()
        if name.startswith("importance"):
            paper = f"{IMPORTANCE[task]} ({task})" if task in IMPORTANCE else ".25 (QQP) to .46 (STS-B)"
            yield PublishedFigure((f"agreement of seeds: {words_of(name)}",), here, paper, f"{SOURCE} importance", "R")
        if name == "entropy":
            yield PublishedFigure(("agreement of seeds: entropy",), here, ".96 (CoLA)", f"{SOURCE} entropies", "R")
    for at, (name, words) in enumerate((("always_kept", "all"), ("never_kept", "no"))):
        if name in numbers.result:
            here = f"{numbers(name).value:.0f} of {int(numbers.result['kept_seeds'].notnull().sum())}", ""
            low, high = min(MASKS.values(), key=lambda mask: mask[at]), max(MASKS.values(), key=lambda mask: mask[at])
            paper = (
                f"{MASKS[task][at]} of 144 ({task})" if task in MASKS else f"{low[at]} to {high[at]} of 144, by task"
            )
            text = f"heads that stay in {words} {'prunings' if at == 0 else 'pruning'} of one task"
            yield PublishedFigure((text,), here, paper, f"{SOURCE} masks", "R")


def agreements(numbers: Numbers) -> Figure:
    """How far seeds agree, by each number."""
    array = numbers.array("seed_agreement")
    named = array.assign_coords(head_number=[words_of(name) for name in array["head_number"].values.tolist()])
    return Figure("agreement", "Agreement", bars(named), "With 95% intervals over seeds.", "seed_agreement")


SCORES = NumberTable(
    "subnetworks",
    "Scores, mean over seeds (95% interval over seeds), of the whole model, of the heads that stay (good), of as many "
    "of the least important (bad), and of as many at random; without training again.",
    {"subnetwork": "Heads", "metric": "Score"},
    {"seed_score": ("Mean over seeds", ".3f")},
)
PAGE = StudyParts(
    highlights=(survivors, agreement),
    charts=(Chart("kept_seeds", "heatmap", "Heads", "Number of seeds in whose pruned model a head stays."), agreements),
    tables=(pairs, places, SCORES, published),
    by_layer=(),
)

"""The page of `probe`: dependency parsing from attention, beside its baselines (Clark et al. 2019, section 5)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures import bars
from headscope.report.cards.head_numbers import Row, cases, of_labels, of_variable, ranked, value
from headscope.report.claims import apart
from headscope.report.declared import Chart, StudyCard, StudyParts
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.tables import Cells, Column, Table, titled
from headscope.report.wording import estimate, listed, number, spread, strongest
from headscope.statistics.significance import LEAST_CASES, RATE, surely_above

NAMES = {
    "attention_and_words": "attention and words",
    "attention": "attention alone",
    "distances_and_words": "distances and words",
    "random_attention_and_words": "random weights: attention and words",
    "random_attention": "random weights: attention alone",
    "fixed_offset": "best fixed offset",
    "right_branching": "right-branching",
}
UNTRAINED = ("fixed_offset", "right_branching")
WITHOUT_ATTENTION = [name for name in NAMES if name not in ("attention", "attention_and_words")]
# Clark et al. (2019), Table 3: BERT-base, the Penn Treebank with Stanford's relations, GloVe vectors.
PAPER = {
    "right_branching": 26,
    "distances_and_words": 58,
    "random_attention_and_words": 30,
    "attention": 61,
    "attention_and_words": 77,
}
BY_RELATION = ("attention_and_words", "attention", "distances_and_words", "fixed_offset")
COMPARED = ("attention", "attention_and_words", "distances_and_words")
LOOKS = {"dependent_to_head": "from the dependent to its head", "head_to_dependent": "from the head to its dependent"}
MOST_ROWS = 16


def scored(numbers: Numbers, names: Iterable[str] = NAMES) -> list[str]:
    """The parsers that have a score.

    Raises `MissingNumber` if none of these has one.
    """
    there = numbers.labels("uas", "probe")
    if parsers := [name for name in names if name in there]:
        return parsers
    raise MissingNumber("uas")


def best(numbers: Numbers, names: Iterable[str]) -> str:
    """The parser with the highest score."""
    return max(scored(numbers, names), key=lambda name: numbers("uas", probe=name).value)


def alone(numbers: Numbers) -> Finding:
    """The parser that sees attention alone, beside trees that need no training."""
    simple, other = best(numbers, UNTRAINED), best(numbers, WITHOUT_ATTENTION)
    uas, base, without = (numbers("uas", probe=name) for name in ("attention", simple, other))
    beside = f"; the best parser without the attention of the model ({NAMES[other]}) {without:.0%}"
    return Finding.judged(
        apart(uas, base, numbers.n("uas")),
        f"A parser that sees attention alone gets {uas:.0%} of the syntactic heads right, "
        f"the {NAMES[simple]} {base:.0%}{beside if other != simple else ''}.",
        holds=f"Attention alone finds {uas:.0%} of the syntactic heads",
        fails="Attention alone finds no more syntactic heads than a fixed offset does",
        undecided="Too few words to tell attention from a fixed offset",
        unit="words",
    )


def random_seeds(numbers: Numbers) -> Finding:
    """The parser that sees attention alone, beside the same with random weights of the model."""
    names = ("attention", "random_attention", best(numbers, WITHOUT_ATTENTION))
    uas, random, without = (numbers("uas", probe=name) for name in names)
    return beside_random_seeds(
        "Syntax in the attention of all heads",
        uas,
        numbers.array("uas_by_seed", probe="random_attention").dropna("seed").values.tolist(),
        apart(uas, without, numbers.n("uas")),
        f"Attention alone gets {uas:.0%} of the syntactic heads right, with random weights of the model {random:.0%}.",
        "words",
    )


def both(numbers: Numbers) -> Finding:
    """What attention adds to words and their distance."""
    uas, words = (numbers("uas", probe=name) for name in ("attention_and_words", "distances_and_words"))
    return Finding.judged(
        apart(uas, words, numbers.n("uas")),
        f"A parser that sees both gets {uas:.0%} of the syntactic heads right, one of words and their distance "
        f"{words:.0%}.",
        holds="Attention adds to what words show",
        fails="Attention adds nothing to words and their distance",
        undecided="Too few words to tell whether attention adds to them",
        unit="words",
    )


def heads(numbers: Numbers) -> Iterator[Finding]:
    """How far heads raise the score of the right word, and those shown to do so."""
    for direction in numbers.labels("contribution", "direction"):
        array = numbers.array("contribution", direction=direction)
        raised = spread(array.drop_vars(("lower", "upper"), errors="ignore"))
        sure = [head for head in strongest(array.where(surely_above(array, 0.0))) if head.value > 0]
        yield Finding(
            f"Heads, {LOOKS[direction]}",
            f"They raise the score of the syntactic head over that of another word, in logits: {raised}. Clearly above "
            f"0 (q < {RATE}): {listed(sure) if sure else 'none'}.",
        )


def concentration(numbers: Numbers) -> Finding:
    """How many heads contribute half of what all do together."""
    array = numbers.array("contribution")
    half, total = half_of(array)
    return Finding(
        "Concentration",
        f"All heads together raise the score by {total:.1f} logits on average; {half} of {int(array.notnull().sum())} "
        f"pairs of a head and a direction contribute half of it. n = {numbers.n('contribution'):,} words.",
    )


def limits(numbers: Numbers) -> Finding:
    """What the parsers were trained on, and what their scores cannot show."""
    training, attributes = numbers.attribute("training"), numbers.result.attrs
    std = float(spread_over_seeds(numbers).sel(probe=scored(numbers)).max())
    seeds = (
        f" Scores are means over {numbers.result.sizes['seed']} seeds, which differ by at most {100 * std:.1f} points "
        "(standard deviation)."
    )
    return Finding(
        "Limits",
        f"Parsers were trained on {training['sentences']:,} sentences of {training['corpus']}, and scored on "
        f"{attributes['test_sentences']:,} others. Scores depend on the number of training sentences and on the text. "
        f"Vectors of words: {attributes['vectors']}, with {100 * attributes['words_with_vectors']:.0f}% of the words."
        f"{seeds if np.isfinite(std) else ''} A tree in the attention is no evidence that the model uses it.",
    )


def spread_over_seeds(numbers: Numbers) -> xr.DataArray:
    """The standard deviation of each score over seeds; NaN with one seed."""
    return numbers.result.get("uas_std", numbers.result["uas"] * np.nan)


def parsers(numbers: Numbers) -> Figure:
    """The scores of all parsers."""
    caption = (
        "Words that get their syntactic head in the best tree, with 95% intervals over sentences; punctuation is left "
        "out. After Clark et al. (2019), Table 3."
    )
    array = numbers.array("uas").sel(probe=scored(numbers))
    return Figure("uas", "Parsers", bars(in_words(array)), caption, "uas")


def recall(numbers: Numbers) -> Iterator[Figure]:
    """The recall of frequent relations."""
    array = numbers.array("recall").transpose("relation", "probe")
    enough = array.sel(relation=numbers.result["recall_n_examples"] >= LEAST_CASES).isel(relation=slice(MOST_ROWS))
    caption = (
        f"Words of each relation that get their syntactic head. The {MOST_ROWS} most frequent relations, of at least "
        f"{LEAST_CASES} words; 95% intervals."
    )
    if enough.sizes["relation"]:
        compared = [name for name in COMPARED if name in array["probe"]]
        yield Figure("recall", "Which relations", bars(in_words(enough.sel(probe=compared))), caption, "recall")


def in_words(array: xr.DataArray) -> xr.DataArray:
    """An array whose parsers have their names in words."""
    return array.assign_coords(probe=[NAMES[name] for name in array["probe"].values.tolist()])


def scores(numbers: Numbers) -> Table:
    """The scores of the parsers, the best first."""
    caption = (
        "Per cent of words that get their syntactic head (UAS), with 95% intervals over sentences; without "
        "punctuation, roots among them. Each word alone: its best syntactic head, whether or not this gives a tree. "
        "Seeds: standard deviation over "
        "them. BERT-base: Clark et al. (2019), Table 3: the Penn Treebank with Stanford's relations, GloVe vectors."
    )
    order = sorted(scored(numbers), key=lambda name: -numbers("uas", probe=name).value)
    titles = ("UAS", "Each word alone", "Seeds", "Epochs", "BERT-base")
    return titled("parsers", caption, "Parser", titles, [(NAMES[name], _cells(numbers, name)) for name in order])


def _cells(numbers: Numbers, name: str) -> Cells:
    over_seeds = (numbers.result["epochs"], spread_over_seeds(numbers))
    epochs, std = (float(array.sel(probe=name).mean()) for array in over_seeds)
    return [
        numbers("uas", probe=name).cell(".1f", 100),
        (f"{100 * numbers('uas_argmax', probe=name).value:.1f}", ""),
        (f"{100 * std:.1f}", "") if np.isfinite(std) and epochs else None,
        (f"{epochs:.1f}", "") if epochs else None,
        (f"{PAPER[name]}", "") if name in PAPER else None,
    ]


def by_relation(numbers: Numbers) -> Table:
    """The recall of each relation."""
    names, result = scored(numbers, BY_RELATION), numbers.result
    columns = (Column("words", "Words"), *(Column(name, NAMES[name].capitalize()) for name in names))
    rows: list[Any] = [
        (
            (relation,),
            [
                (f"{numbers.n('recall', relation=relation):,}", ""),
                *(estimate(result, "recall", relation=relation, probe=name).cell(".1f", 100) for name in names),
            ],
        )
        for relation in result["relation"].values.tolist()
    ]
    caption = "Per cent of the words of each relation that get their syntactic head, with 95% intervals."
    return Table("recall", caption, ("Relation",), columns, rows)


def together(numbers: Numbers) -> Table:
    """How many heads find each relation together, and the strongest of them."""
    array = numbers.array("relation_contribution").dropna("relation", how="all")
    rows = []
    for relation in array["relation"].values.tolist():
        part = array.sel(relation=relation)
        count, total = half_of(part)
        heads, words = listed(strongest(part.max("direction"))[:3]), f"{numbers.n('recall', relation=relation):,}"
        rows.append((relation, [(words, ""), (f"{total:.2f}", ""), (f"{count}", ""), (heads, "")]))
    caption = (
        "Heads that find a relation together: by how much all heads raise the score of the syntactic head, in logits, "
        "how many pairs of a head and a direction give half of that, and the heads with most. After Hoover et al. 2020."
    )
    return titled("together", caption, "Relation", ("Words", "All heads", "Give half", "Strongest"), rows)


def half_of(contribution: xr.DataArray) -> tuple[int, float]:
    """How many heads and directions give half of what all raise the score by, the strongest first; and that sum."""
    values = contribution.values
    values = np.sort(values[np.isfinite(values)])[::-1]
    return int(np.searchsorted(np.cumsum(values), values.sum() / 2)) + 1, float(values.sum())


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The weight and the contribution of a head, in both directions."""
    for row in of_variable(numbers, "contribution"):
        weight = of_labels(numbers, "weight", *row.labels)
        words = "" if weight is None else f", with a weight of {number(weight.value)} ({ranked(weight)})"
        text = f"Raises the score of the syntactic head over that of another word by {value(row)} {row.units}"
        yield Finding(f"In a parser, {row.words}", f"{text} ({ranked(row)}){words}; {cases(row)}.")


RISE = (
    "Rise of the score of the syntactic head: the weight of each head in the parser that sees attention alone, times "
    "its attention to the syntactic head minus that to another word. The contribution of a head depends on the other "
    "heads."
)
PAGE = StudyParts(
    highlights=(alone, random_seeds, both),
    findings=(heads, concentration, limits),
    charts=(parsers, Chart("contribution", "heatmap", "Which heads", RISE, style={"diverging": True}), recall),
    tables=(scores, by_relation, together),
    card=StudyCard(("weight_std",), lambda result: ("contribution",), sentences=sentences),
)

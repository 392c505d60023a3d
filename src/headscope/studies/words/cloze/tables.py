"""Tables of `cloze`: accuracies, predictions that stay, facts, suites, pieces, and published figures beside them."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import xarray as xr

from headscope.corpora.suites.item import IN_GAP
from headscope.report.declared import NumberTable, Part
from headscope.report.numbers import Numbers
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import estimate

# Baselines and controls in words.
SERIES = {
    "random weights": "random weights",
    "unigram": "words alone (unigram)",
    "shuffled": "shuffled words",
    "truncated": "near words alone",
}


def suites(numbers: Numbers) -> dict[str, list[str]]:
    """The scored phenomena of each suite."""
    scored = numbers.labels("accuracy", "phenomenon")
    return {suite: [name for name in names if name in scored] for suite, names in numbers.attribute("suites").items()}


def table(name: str, caption: str, titles: Mapping[str, str], dim: str = "phenomenon", *, beside: str = "") -> Part:
    """A table of the phenomena of each suite, or of suites, without rows and columns that have no value.

    * `titles`: the columns by number, one for each label of a further dimension, which is `{}`.
    * `beside`: a number that stands beside others, and makes no row alone.
    """

    def part(numbers: Numbers) -> Iterator[Table]:
        result, rows = numbers.result, list[tuple[tuple[str, ...], Cells]]()
        columns = list(_columns(result, titles, dim))
        for key in [(suite,) for suite in result["suite"].values.tolist()] if dim == "suite" else _named(numbers):
            cells = [_cell(result, number, {dim: key[-1]} | labels) for number, labels, _ in columns]
            if any(cell for cell, (number, *_) in zip(cells, columns, strict=True) if number != beside):
                rows.append((key, cells))
        used = [index for index in range(len(columns)) if any(cells[index] for _, cells in rows)]
        if used:
            keys = ("Suite",) if dim == "suite" else ("Suite", "Phenomenon")
            heads = tuple(Column(columns[index][2].lower(), columns[index][2]) for index in used)
            lines = [((*key[:1], *(label.replace("_", " ") for label in key[1:])), cells) for key, cells in rows]
            yield Table(name, caption, keys, heads, [(key, [cells[index] for index in used]) for key, cells in lines])

    return part


def _named(numbers: Numbers) -> list[tuple[str, str]]:
    """Suites and their scored phenomena."""
    return [(suite, name) for suite, names in suites(numbers).items() for name in names]


def _columns(result: xr.Dataset, titles: Mapping[str, str], dim: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The numbers that a result has, each label of their further dimensions, and the title."""
    for name in (name for name in titles if name in result):
        further = [str(other) for other in result[name].dims if other != dim]
        for labels in product(*(result[other].values.tolist() for other in further)):
            words = (SERIES.get(label, label) for label in labels)
            yield name, dict(zip(further, labels, strict=True)), titles[name].format(*words).capitalize()


def _cell(result: xr.Dataset, number: str, labels: Mapping[str, Any]) -> tuple[str, str] | None:
    """A number of items, a share in per cent, or another number."""
    form = (",.0f", 1) if number.endswith("n_examples") else (".1f", 100)
    form = (".2f", 1) if number.startswith(("perplexity", "answer_rank")) else form
    return estimate(result, number, **labels).known_cell(*form)


phenomena = table(
    "phenomena",
    "Accuracy in per cent, with 95% intervals over items and over lemmas. Right answers among the first ten of the "
    "vocabulary stand in the last column.",
    {
        "accuracy": "Accuracy",
        "accuracy_by_lemma": "By lemma",
        "chance": "Chance",
        "accuracy_baseline": "{}",
        "accuracy_control": "{}",
        "accuracy_n_examples": "Items",
        "precision_at_10": "Precision at 10",
    },
)
staying = table(
    "kept",
    "Share of items whose best text stays with changed texts, and share of gaps whose right answer is more probable by "
    "more than 0.01, in per cent with 95% intervals over items.",
    {"prediction_kept": "Stays: {}", "accuracy_beyond": "By more than 0.01"},
)
facts = table(
    "facts",
    "Answers in per cent, with 95% intervals. The most frequent one and the best wording are chosen on the other half "
    "of the items; filled answers may have several pieces, whose number the model is told. Of the right answer stand "
    "the mean probability, the perplexity and the geometric mean of the rank.",
    {
        "accuracy": "First of the vocabulary",
        "precision_at_5": "Among 5",
        "precision_at_10": "Among 10",
        "accuracy_among_answers": "First of the answers",
        "accuracy_of_most_frequent": "Most frequent answer",
        "accuracy_of_fill": "Filled from the left",
        "accuracy_of_best_wording": "Best wording",
        "consistency": "Wordings agree",
        "right_in_all": "Right in all wordings",
        "answer_probability": "Probability",
        "answer_rank": "Rank",
        "perplexity": "Perplexity",
        "perplexity_baseline": "Perplexity: {}",
    },
    beside="accuracy",
)
answers = NumberTable(
    "answers",
    "How often each answer comes first where it is right, and its perplexity there, with 95% intervals over items, or "
    "over sequences of letters; its share of all answers.",
    {"answer": "Answer"},
    {
        "accuracy_by_answer": ("Comes first", "%"),
        "perplexity_by_answer": ("Perplexity", ".2f"),
        "answer_share": ("Share", "%"),
    },
)
by_suite = table(
    "suites",
    "Accuracy of each suite minus that of baselines and of changed texts on the same items, and minus that of always "
    "the most frequent answer; precision at 1 where the subject's name gives the answer away, and where it does not. "
    "In points and per cent, with 95% intervals.",
    {
        "baseline_gain": "More than {}",
        "control_fall": "More than {}",
        "answer_gain": "More than the most frequent answer",
        "accuracy_given_away": "Name gives it away",
        "accuracy_not_given_away": "Name does not",
    },
    "suite",
)


def judgments(numbers: Numbers) -> Table:
    """Each condition by the model's scores of sentences, by its word in a gap, and by a classifier of acceptability."""
    caption = (
        "Right items in per cent, with 95% intervals. Pairs: the good sentence has the higher score (chance 50%); gap: "
        "so has its word where the sentences differ in one (50%); by the classifier {judge}: the good sentence is more "
        "acceptable (50%), both are judged rightly (25%), a sentence is judged rightly (50%). After Warstadt et al. "
        "(2019)."
    ).format_map(numbers.words)
    titles = ("Pairs", "Gap", "Classifier: pairs", "Classifier: both", "Classifier: sentences")
    rows = list[tuple[tuple[str], Cells]]()
    for name in numbers.labels("judged_pairs", "condition"):
        phenomenon, colon, condition = name.partition(": ")
        gap = f"{phenomenon}{IN_GAP}{colon}{condition}"
        places = [("accuracy_by_condition", name), ("accuracy_by_condition", gap)]
        places += [(number, name) for number in ("judged_pairs", "judged_both", "judged_sentences")]
        there = numbers.result["condition"].values.tolist()
        cells: Cells = [_cell(numbers.result, of, {"condition": at}) if at in there else None for of, at in places]
        rows.append(((name.replace("_", " "),), cells))
    return Table("judgments", caption, ("Condition",), tuple(Column(title, title) for title in titles), rows)


pieces = table(
    "pieces",
    "Accuracy of answers in gaps by their number of pieces, in per cent with 95% intervals over items.",
    {"accuracy_by_pieces": "{}"},
    "suite",
)

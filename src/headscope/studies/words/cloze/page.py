"""The page of `cloze`: where the model is right, where it is no better than chance, and what explains it."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import POINT, above, apart
from headscope.report.declared import Part, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, first_of, sentence_case, several
from headscope.studies.words.cloze import charts, tables
from headscope.studies.words.cloze.published import published
from headscope.studies.words.cloze.tables import suites

NAMED = 5
# The share of samples beyond each bound of a 95% interval.
TAIL = 0.025
BY_CHANCE = "Expect 1 in 20 intervals to miss chance by luck."
SENTENCES = {
    "random weights": ("baseline", "Random weights", "With random weights", "with those of the model", "they do"),
    "unigram": ("baseline", "Words alone", "By the frequency of words alone", "by the model", "it does"),
    "shuffled": ("control", "Word order", "With shuffled words", "with the words in order", "shuffled words do"),
    "truncated": ("control", "Near words", "With the near words alone", "with the whole text", "near words do"),
}
POLARITY = "Negative polarity items"


def mean_of(array: xr.DataArray) -> Estimate:
    """The mean over phenomena, whose errors are independent of each other."""
    value = float(array.mean())
    if "lower" not in array.coords:
        return Estimate(value)
    halves = ((array["upper"] - array["lower"]) / 2).where(array.notnull())
    half = float((halves**2).sum()) ** 0.5 / max(int(halves.notnull().sum()), 1)
    return Estimate(value, value - half, value + half)


def by_suite(numbers: Numbers) -> Iterator[Finding]:
    """The accuracy of each suite."""
    ranked = numbers.result.get("precision_at_10", np.nan * numbers.result["chance"]).notnull()
    for suite in numbers.labels("accuracy_by_suite", "suite"):
        names, score = suites(numbers)[suite], numbers("accuracy_by_suite", suite=suite)
        chance = float(numbers.array("chance", phenomenon=names).mean())
        count = numbers.n("accuracy_by_suite", suite=suite)
        start = "The answer comes first" if ranked.sel(phenomenon=names).all() else "The good text scores higher"
        named = sentence_case(label("suite", suite))
        yield Finding.judged(
            above(score, chance, count),
            f"{start} in {score:%} of {count:,} items; chance is {f'{chance:.0%}' if chance > 0.005 else 'nearly 0'}.",
            holds=f"{named}: {score:.0%} right",
            fails=f"{named}: no better than chance",
            undecided=f"{named}: not distinguishable from chance",
            unit="items",
        )


def ends(numbers: Numbers) -> Iterator[Finding]:
    """The phenomena with the lowest and the highest accuracy."""
    accuracy = numbers.array("accuracy").dropna("phenomenon")
    if accuracy.size > 1:
        ordered = accuracy.sortby(accuracy)
        words = [
            f"{name.replace('_', ' ')} ({numbers('accuracy', phenomenon=name):%}, "
            f"n = {numbers.n('accuracy', phenomenon=name):,})"
            for name in ordered["phenomenon"].values[[0, -1]].tolist()
        ]
        topic = f"Accuracy by phenomenon: {float(ordered[0]):.0%} to {float(ordered[-1]):.0%}"
        yield Finding(topic, f"Lowest: {words[0]}; highest: {words[1]}.")


def beside_chance(numbers: Numbers) -> Iterator[Finding]:
    """The phenomena whose intervals include chance, and those below it; none of the intervals is corrected."""
    sides = {name: side_of(numbers, name) for name in numbers.labels("accuracy", "phenomenon")}
    unsure, below = ([name.replace("_", " ") for name in sides if sides[name] == side] for side in (0, -1))
    count = several(len(sides), "phenomenon").replace("phenomenons", "phenomena")
    all_differ = f"All {count} differ from chance" if len(sides) > 1 else "The phenomenon differs from chance"
    topic = f"{len(unsure)} of {count} not distinguishable from chance" if unsure else all_differ
    listed = f"{sentence_case(first_of(unsure, NAMED, ', '))}. " if unsure else ""
    yield Finding(topic, f"{listed}By 95% intervals, over items and over lemmas. {BY_CHANCE}")
    if below:
        yield Finding(
            "Below chance",
            f"By their 95% intervals the wrong text is preferred in {first_of(below, NAMED, ', ')}: perhaps for other "
            f"properties of the texts. {BY_CHANCE}",
        )


def side_of(numbers: Numbers, name: str) -> int:
    """1 where the intervals over items and over lemmas lie above chance, -1 where both lie below it, else 0.

    Of items that are all right or all wrong the probability of that by chance decides, a lemma counting once.
    """
    accuracy, by_lemma, chance = (numbers(key, phenomenon=name) for key in ("accuracy", "accuracy_by_lemma", "chance"))
    if accuracy.value in (0, 1):
        side, of_chance = (1, chance.value) if accuracy.value == 1 else (-1, 1 - chance.value)
        return side * (of_chance ** numbers.n("accuracy_by_lemma", phenomenon=name) < TAIL)
    if min(accuracy.lower, by_lemma.lower) > chance.value:
        return 1
    return -1 if max(accuracy.upper, by_lemma.upper) < chance.value else 0


def beside(name: str) -> Part:
    """The mean accuracy over phenomena of a baseline or a control, beside that of the model."""
    dim, topic, with_it, without, does = SENTENCES[name]

    def finding(numbers: Numbers) -> Finding:
        changed = numbers.array(f"accuracy_{dim}", **{dim: name})
        accuracy = numbers.array("accuracy").where(changed.notnull().reset_coords(drop=True))
        count = numbers.result["accuracy_n_examples"].where(changed.notnull().reset_coords(drop=True))
        own, other = mean_of(accuracy), mean_of(changed)
        return Finding.judged(
            apart(own, other, int(count.sum())),
            f"{with_it} {other.value:.1%} of items are right, {without} {own.value:.1%} (means over phenomena).",
            holds=f"{topic}: the model is better",
            fails=f"{topic}: {does} as well",
            undecided=f"{topic}: no clear difference",
            unit="items",
        )

    return finding


def human(numbers: Numbers) -> Iterator[Finding]:
    """Whether margins are larger where more people prefer the good text."""
    for suite in numbers.labels("human_agreement", "suite"):
        agreement, n = numbers("human_agreement", suite=suite), numbers.n("human_agreement", suite=suite)
        yield Finding.judged(
            above(agreement, 0.0, n, least=0),
            f"Over {n:,} items the margin has a rank correlation of {agreement} with how much more often people give "
            "the answer in the good text.",
            holds="The model prefers more clearly what people prefer more clearly",
            fails="The model's margins do not follow those of people",
            undecided="It cannot be told whether the model's margins follow those of people",
            unit="items",
        )


def attractors(numbers: Numbers) -> Iterator[Finding]:
    """Verbs with one noun of the other number between them and their subjects, against verbs without."""
    names = numbers.labels("accuracy_by_condition", "condition")
    for name in (name for name in names if name.endswith(": 1 attractor")):
        if (without := name.replace("1 attractor", "0 attractors")) in names:
            plain, hard, plain_words, hard_words = (
                numbers(number, condition=condition, **labels)
                for number, labels in (
                    ("accuracy_by_condition", {}),
                    ("baseline_by_condition", {"baseline": "unigram"}),
                )
                for condition in (without, name)
            )
            subject = sentence_case(name.partition(":")[0])
            yield Finding.judged(
                apart(plain, hard, numbers.n("accuracy_by_condition", condition=name)),
                f"With one attractor, a noun of the other number between subject and verb, {hard:%} of verbs are "
                f"right, without {plain:%}; by the frequency of words alone {hard_words:%} and {plain_words:%}.",
                holds=f"{subject}: an attractor makes it harder",
                fails=f"{subject}: one attractor makes it no harder",
                undecided=f"{subject}: no clear difference with an attractor",
                unit="items with an attractor",
            )


def polarity(numbers: Numbers) -> Iterator[Finding]:
    """Negative polarity items apart: whether a licensor is there, and whether the item is in scope of it."""
    accuracy = numbers.array("accuracy_by_condition").dropna("condition")
    for words, end in (("A licensor is there", "_present"), ("The item is in its scope", "_scope")):
        # The last word of a paradigm may be followed by its number.
        labels = [
            condition
            for condition in accuracy["condition"].values.tolist()
            if "npi" in condition and condition.rstrip("_12").endswith(end)
        ]
        if labels:
            named = ", ".join(
                f"{condition.partition(': ')[2].replace('_', ' ')} {float(accuracy.sel(condition=condition)):.0%}"
                for condition in labels
            )
            mean = float(accuracy.sel(condition=labels).mean())
            yield Finding(POLARITY, f"{words}: {mean:.1%} right on average ({named}).")


def perplexity(numbers: Numbers) -> Iterator[Finding]:
    """How probable the right answers of each suite are."""
    for suite in numbers.labels("perplexity_by_suite", "suite"):
        score, n = numbers("perplexity_by_suite", suite=suite), numbers.n("perplexity_by_suite", suite=suite)
        yield Finding(
            f"{sentence_case(label('suite', suite))}: perplexity {score.value:.2f}",
            f"Its {several(n, 'answer')} are as hard to guess as one of {score} that are equally probable.",
        )


def facts(numbers: Numbers) -> Finding:
    """Precision at 1 and 10: means over phenomena."""
    near = numbers.array("precision_at_10").reset_coords(drop=True)
    first = float(numbers.array("accuracy").where(near.notnull()).mean())
    return Finding(
        "Answers in the vocabulary",
        f"The answer comes first in {first:.1%}, among the first ten in {float(near.mean()):.1%} (means over "
        "phenomena).",
    )


def names(numbers: Numbers) -> Finding:
    """Facts without those whose answer the name gives away."""
    ranked = numbers.array("precision_at_10").reset_coords(drop=True).notnull()
    overall = float(numbers.array("accuracy").where(ranked).mean())
    matched, guessed = map(float, numbers.array("accuracy_by_name_filter").mean("phenomenon"))
    return Finding(
        "Facts from names",
        f"Without answers that are a part of the subject's name {matched:.1%} are right, without those that the name "
        f"alone suggests {guessed:.1%}; of all facts {overall:.1%}.",
    )


def wordings(numbers: Numbers) -> Finding:
    """Agreement of the wordings of a fact."""
    same, in_all = (float(numbers.array(name).mean()) for name in ("consistency", "right_in_all"))
    return Finding(
        "Wordings", f"Two wordings of a fact get the same answer in {same:.1%}; {in_all:.1%} of facts are right in all."
    )


def answers(numbers: Numbers) -> Iterator[Finding]:
    """The right one of all answers of a phenomenon, against always the most frequent one."""
    for suite in numbers.labels("among_gain", "suite"):
        first, frequent = (
            float(numbers.result[name].sel(phenomenon=suites(numbers)[suite]).mean())
            for name in ("accuracy_among_answers", "accuracy_of_most_frequent")
        )
        yield Finding.judged(
            above(numbers("among_gain", suite=suite), 0.0, numbers.n("among_gain", suite=suite), least=POINT),
            f"Of all answers of the phenomenon the right one comes first in {first:.1%}; the most frequent answer is "
            f"right in {frequent:.1%} (means over phenomena of {suite}).",
            holds="Among the answers: better than the most frequent one",
            fails="Among the answers: no better than the most frequent one",
            undecided="Among the answers: no clear difference from the most frequent one",
            unit="facts",
        )


def filled(numbers: Numbers) -> Finding:
    """Answers of one piece or several, which the model writes from the left."""
    return Finding(
        "Answers filled from the left",
        f"{float(numbers.array('accuracy_of_fill').mean()):.1%} of answers, also of several pieces, are written piece "
        "by piece (mean over phenomena). The model is told how many pieces they have, so that this is more than it "
        "would find by itself.",
    )


def best_wording(numbers: Numbers) -> Finding:
    """The wording that is best for half of the facts, on the other half, against the mean over wordings."""
    gain, best = mean_of(numbers.array("best_wording_gain")), float(numbers.array("accuracy_of_best_wording").mean())
    return Finding.judged(
        above(gain, 0.0, int(numbers.result["best_wording_gain_n_examples"].sum()), least=POINT),
        f"In the wording that is best for the other half of the facts {best:.1%} are right, in all wordings "
        f"{best - gain.value:.1%} on average.",
        holds="Wording matters: the best one is better",
        fails="Wording: the best one is no better than the average",
        undecided="Wording: no clear difference",
        unit="facts",
    )


def mined_wording(numbers: Numbers) -> Finding:
    """The wording that is best for half of the facts, on the other half, against the wording of the suite."""
    gain = mean_of(numbers.array("first_wording_gain"))
    return Finding.judged(
        above(gain, 0.0, int(numbers.result["first_wording_gain_n_examples"].sum()), least=POINT),
        f"The wording that is best for the other half of the facts adds {gain:+} points to the first wording.",
        holds="Another wording is better than the first one",
        fails="No other wording is better than the first one",
        undecided="It cannot be told whether another wording is better than the first one",
        unit="facts",
    )


def limits(numbers: Numbers) -> Finding:
    """What a reader has to keep in mind."""
    left = numbers.attribute("skipped") | numbers.attribute("counted")
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left.items())
    return Finding(
        "Limits",
        "Chance means that an interval over items, or one over whole lemmas, includes chance. A preference "
        "for the good text does not say why: compare it with the controls."
        + (f" Left out or counted: {reasons}." if left else ""),
    )


PAGE = StudyParts(
    highlights=(by_suite, ends, beside_chance, beside("shuffled")),
    findings=(
        *map(beside, ("random weights", "unigram", "truncated")),
        *(human, attractors, polarity, perplexity, facts, names, wordings, answers, filled),
        *(best_wording, mined_wording, limits),
    ),
    charts=(charts.phenomena, charts.staying, charts.facts, charts.pieces, charts.conditions),
    tables=(
        tables.phenomena,
        tables.judgments,
        tables.staying,
        tables.facts,
        tables.answers,
        tables.by_suite,
        tables.pieces,
        published,
    ),
)

"""Findings about texts of one's own: whose answers their labels are, and classes that no text has."""

from collections.abc import Iterator
from typing import Any

from headscope.report.parts import Finding
from headscope.report.wording import number

AGREES = " Labels are the whole model's own answers, right or wrong."


def of_answers(known: dict[str, Any]) -> bool:
    """Whether the whole model's answers are the labels that score.

    * `known`: the facts of the result.
    """
    return "pseudo_labels" in known


def own_texts(known: dict[str, Any]) -> Iterator[Finding]:
    """Which texts of one's own were read for a task, and what their labels are."""
    texts = known.get("pseudo_labels") or known.get("own_texts")
    if texts is None:
        return
    number_of = f"{texts['texts']:,} {'pairs of texts' if texts['paired'] else 'single texts'}"
    if "pseudo_labels" not in known:
        text = (
            f"{number_of} are searched and trained on in the place of the train split, without labels. Scores are of "
            "the dev split and its labels."
        )
        yield Finding("Texts in the place of the train split", text + _left_out(texts["left_out"]))
        return
    counts = ", ".join(f"'{name}' to {count:,}" for name, count in texts["answers"].items())
    text = (
        f"{number_of} have no labels, or are read without them: what the whole model answers stands in their place. So "
        "scores say how far the saved model agrees with the whole one, and not how often either is right."
        f"{counts and f' Answers to held-out texts: {counts}.'}"
    )
    yield Finding("Labels are the whole model's own answers", text + _left_out(texts["left_out"]))
    if texts["unanswered"]:
        text = f"The whole model answers none of these texts with them: {', '.join(texts['unanswered'])}."
        yield Finding("Classes of which these texts say nothing", text)


def too_alike(score: str, chance: float) -> Finding:
    """That held-out texts are answered so much alike that one constant answer may agree as often."""
    text = (
        f"The whole model agrees with itself by {score}, always the same answer by {number(chance)}: these texts do "
        "not surely tell a model from one that answers all alike. Add texts that are answered otherwise."
    )
    return Finding("Too many of the answers are the same", text)


def _left_out(reasons: dict[str, int]) -> str:
    counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
    return f" Left out or cut: {counts}." if counts else ""

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
    return "dev" in known.get("pseudo_labels", {}).get("splits", ())


def own_texts(known: dict[str, Any]) -> Iterator[Finding]:
    """Which texts have pseudo-labels, what these are, and what they do not say."""
    labels = known.get("pseudo_labels")
    if labels is None:
        return
    texts = f"{labels['texts']:,} {'pairs of texts' if labels['paired'] else 'single texts'}"
    counts = ", ".join(f"'{name}' to {count:,}" for name, count in labels["answers"].items())
    if of_answers(known):
        text = (
            f"{texts} have no labels, or are read without them: what the whole model answers stands in their place. So "
            "scores say how far the saved model agrees with the whole one, and not how often either is right."
            f"{counts and f' Answers to held-out texts: {counts}.'}"
        )
        yield Finding("Labels are the whole model's own answers", text + _left_out(labels["left_out"]))
    else:
        text = (
            f"{texts} are searched and trained on in the place of the train split, without labels of their own: where "
            "labels count there, they are what the whole model answers. Scores are of the dev split and its labels."
            f"{counts and f' Answers: {counts}.'}"
        )
        yield Finding("Texts in the place of the train split", text + _left_out(labels["left_out"]))
    if labels["unanswered"]:
        text = f"The whole model answers none of these texts with them: {', '.join(labels['unanswered'])}."
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

"""Claims by models: which findings carry over."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import several
from headscope.results.cells import markdown_cell

Judged = Sequence[tuple[MeasuredModel, Sequence[Judgement]]]


def names(models: Sequence[MeasuredModel]) -> list[str]:
    """A name for each model, with the start of its hash where two have the same."""
    counts = Counter(model.name for model in models)
    return [
        f"{model.name} ({(model.sha256 or str(number))[:8]})" if counts[model.name] > 1 else model.name
        for number, model in enumerate(models, 1)
    ]


def by_claim(judged: Judged) -> list[dict[str, Any]]:
    """The claims that are measured for any of the models, each with its verdicts by model, in the papers' order."""
    models = names([model for model, _ in judged])
    rows = []
    for judgements in zip(*(claims for _, claims in judged), strict=True):
        if any(judgement.test for judgement in judgements):
            first = judgements[0]
            verdicts = {name: judgement.verdict for name, judgement in zip(models, judgements, strict=True)}
            about = {"id": first.claim.id, "paper": first.paper.name, "claim": first.claim.claim}
            rows.append({**about, "title": first.paper.title, "verdicts": verdicts})
    return rows


def records(judged: Judged) -> list[dict[str, Any]]:
    """The verdicts on the claims of each model, for JSON."""
    return [
        {"model": model.name, "sha256": model.sha256, "claims": [judgement.record() for judgement in judgements]}
        for model, judgements in judged
    ]


def differing(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The claims that hold for one model and fail for another."""
    return [row for row in rows if {"holds", "fails"} <= set(row["verdicts"].values())]


def summed_up(judged: Judged) -> str:
    """How many claims carry over, as a sentence: of those that are decided for every model."""
    rows = by_claim(judged)
    decided = [set(row["verdicts"].values()) for row in rows if set(row["verdicts"].values()) <= {"holds", "fails"}]
    hold, fail = (sum(verdicts == {name} for verdicts in decided) for name in ("holds", "fails"))
    if not decided:
        return "No claim is decided for all of these models."
    return (
        f"{several(len(decided), 'claim')} {'is' if len(decided) == 1 else 'are'} decided for all "
        f"{len(judged)} models: {hold} hold for all, {fail} fail for all, {len(decided) - hold - fail} differ."
    )


def tables(judged: Judged) -> list[Table]:
    """A table for each paper: claims as rows, models as columns."""
    rows, models = by_claim(judged), names([model for model, _ in judged])
    by_paper = []
    for paper in dict.fromkeys(row["paper"] for row in rows):
        mine = [row for row in rows if row["paper"] == paper]
        lines: list[tuple[str, Cells]] = [
            (row["id"], [(row["claim"], ""), *((row["verdicts"][name], "") for name in models)]) for row in mine
        ]
        by_paper.append(titled(f"across-{paper}", mine[0]["title"], "Id", ("Claim", *models), lines))
    return by_paper


def contents(judged: Judged) -> dict[str, Any]:
    """The table and its sentence, for a template."""
    return {"models": names([model for model, _ in judged]), "rows": by_claim(judged), "sum": summed_up(judged)}


def markdown(judged: Judged) -> str:
    """The table as a section of Markdown."""
    models = names([model for model, _ in judged])
    lines = ["# Claims by models", "", summed_up(judged), "", f"| | claim | {' | '.join(map(markdown_cell, models))} |"]
    lines.append("| --- " * (len(models) + 2) + "|")
    for row in by_claim(judged):
        cells = (row["id"], row["claim"], *row["verdicts"].values())
        lines.append("| " + " | ".join(map(markdown_cell, cells)) + " |")
    return "\n".join(lines) + "\n"

"""The verdicts on claims of papers as one offline page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from headscope.papers import words
from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.page import Page


def write_claims(judged: Sequence[tuple[MeasuredModel, Sequence[Judgement]]], directory: str | Path) -> Path:
    """Write `directory/claims.html`; return its path.

    * `judged`: models, each with the verdicts of its results.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    contents = [{"model": model, **verdicts(judgements)} for model, judgements in judged]
    return Page(Path(directory) / "claims.html", "claims.html", {"models": contents}).write()


def verdicts(judgements: Sequence[Judgement]) -> Mapping[str, object]:
    """The counts of verdicts and the rows of each paper, for a template."""
    papers: dict[str, list[dict[str, str]]] = {}
    for one in judgements:
        row = {"id": one.claim.id, "section": one.claim.section, "claim": one.claim.claim, "verdict": one.verdict}
        row |= {"here": words.measured(one), "details": words.details(one), "figure": words.figure(one)}
        row["page"] = str(one.source.path.with_name("report.html")) if one.source else ""
        papers.setdefault(one.paper.title, []).append(row)
    return {"counts": words.counted(judgements), "sum": words.summed_up(judgements), "papers": papers}

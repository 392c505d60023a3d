"""The verdicts on claims of papers as one offline page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from headscope.papers import across_models, words
from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.page import Page


def write_claims(judged: Sequence[tuple[MeasuredModel, Sequence[Judgement]]], directory: str | Path) -> Path:
    """Write `directory/claims.html` of models with the verdicts of their results; return its path."""
    directory = Path(directory)
    contents = [{"model": model, **verdicts(judgements, directory)} for model, judgements in judged]
    across = across_models.contents(judged) if len(judged) > 1 else None
    return Page(directory / "claims.html", "claims.html", {"models": contents, "across": across}).write()


def page_within(source: Source, directory: Path) -> str:
    """The address of the page of a result from a page of the directory; "" where it lies elsewhere."""
    page = source.path.with_name("report.html")
    if not (page.is_file() and page.resolve().is_relative_to(directory.resolve())):
        return ""
    return quote(page.resolve().relative_to(directory.resolve()).as_posix())


def verdicts(judgements: Sequence[Judgement], directory: Path | None = None) -> Mapping[str, object]:
    """The counts of verdicts and the rows of each paper, for a template; with links to study pages in the directory."""
    papers: dict[str, list[dict[str, str]]] = {}
    for judged in judgements:
        claim = judged.claim
        row = {"id": claim.id, "section": claim.section, "claim": claim.claim, "verdict": judged.verdict}
        row |= {"here": words.measured(judged), "details": words.details(judged), "figure": words.figure(judged)}
        row["token"] = words.token(judged)
        row["page"] = page_within(judged.source, directory) if judged.source and directory else ""
        papers.setdefault(judged.paper.title, []).append(row)
    return {"counts": words.counted(judgements), "sum": words.summed_up(judgements), "papers": papers}

"""The portrait of a model, what all its results say together, and the verdicts on claims: offline pages."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from headscope.papers import across_models, words
from headscope.papers.across_models import contents as across
from headscope.papers.across_models import differences
from headscope.papers.paper_claim import read_papers
from headscope.papers.verdicts import Judgement, judge
from headscope.papers.words import summed_up
from headscope.report.atlas import atlas_of_heads
from headscope.report.cards.main_numbers import head_values
from headscope.report.cards.model_results import MeasuredModel, Source, gather_all
from headscope.report.corpora_page import write_corpora
from headscope.report.facts import described
from headscope.report.heads_page import write_heads
from headscope.report.kinds import COLOURS
from headscope.report.layer_numbers import highlights as of_layers
from headscope.report.layer_strip import layer_strip
from headscope.report.layers_page import write_layers
from headscope.report.page import Page
from headscope.report.parts import Finding
from headscope.report.wording import several

SENTENCES = 5
JUDGED = ("holds", "fails", "undecided")
PORTRAIT, LAYERS = "index.html", "layers.html"


def write_portrait(
    judged: Sequence[tuple[MeasuredModel, Sequence[Judgement]]],
    directory: str | Path,
    *,
    left_out: Iterable[tuple[str, str]] = (),
    beside: Iterable[str] = (),
) -> Path:
    """Write `directory/index.html`, the portrait of the models that results are about; return its path.

    * `left_out`: studies that were not run, and what each would need; `beside`: pages to name, such as heads.html.
    """
    directory = Path(directory)
    page = Page(directory / PORTRAIT, "portrait.html", {"models": [], "left_out": list(left_out)})
    pages = list(beside)
    page.contents |= {"beside": pages, "layers_page": LAYERS if LAYERS in pages else ""}
    page.contents |= {"colours": COLOURS, "without_cards": True}
    if len(judged) == 2:
        page.contents["differences"] = page.attempt("what differs", differences, judged)
    if len(judged) > 2:
        page.contents["across"] = page.attempt("the table of claims", across, judged)
    for number, (model, judgements) in enumerate(judged):
        contents: dict[str, Any] = {"model": model, "prefix": f"m{number}", **verdicts(judgements, directory)}
        for name, (title, part) in PARTS.items():
            contents[name] = page.attempt(title, part, model) or ()
        contents["studies"] = [_linked(source, directory) for source in model.sources]
        contents["highlights"] = [
            {"topic": finding.topic, "text": _first_sentence(finding.text)} | _linked(source, directory)
            for finding, source in contents["highlights"]
        ]
        page.contents["models"].append(contents)
    return page.write()


def strongest(model: MeasuredModel, most: int = SENTENCES) -> list[tuple[Finding, Source]]:
    """The sentences that say the most: claims that hold, one of a title, a study in turn; the largest effect first."""
    ranked = [
        (rank, -finding.effect, finding, source)
        for source in model.sources
        for rank, finding in enumerate(_holding(source))
    ]
    by_title: dict[str, tuple[Finding, Source]] = {}
    for _, _, finding, source in sorted(ranked, key=lambda entry: entry[:2]):
        by_title.setdefault(finding.topic, (finding, source))
    return sorted(islice(by_title.values(), most), key=lambda entry: -entry[0].effect)


def _first_sentence(text: str) -> str:
    """The first sentence of a text; the page of its study has the others.

    >>> _first_sentence("It gets 0.4 of the attention. 2 heads give it more.")
    'It gets 0.4 of the attention.'
    """
    return text.partition(". ")[0].removesuffix(".") + "."


def _holding(source: Source) -> list[Finding]:
    claims = [finding for finding in source.page.highlights() if finding.verdict == "holds"]
    return sorted(claims, key=lambda finding: -finding.effect)


def _atlas(model: MeasuredModel) -> Any:
    return atlas_of_heads([source.result for source in model.sources], model.heads) if model.heads else None


# The parts of a model's portrait, each with its words and what makes it.
PARTS = {
    "facts": ("the facts", lambda model: described(model.sources[0].result)["facts"]),
    "highlights": ("the main sentences", strongest),
    "atlas": ("the atlas", _atlas),
    "numbers": ("the order of heads", lambda model: head_values(model.main_numbers) if model.heads else ()),
    "strip": ("the strip of layers", layer_strip),
    "layers": ("the layers", lambda model: list(of_layers(model.layers))),
}


def in_lines(model: MeasuredModel, judgements: Sequence[Judgement]) -> list[str]:
    """The portrait in some lines of text."""
    sentences = [f"{finding.topic}: {finding.text}" for finding, _ in strongest(model)]
    layers = [f"{finding.topic}: {finding.text}" for finding in of_layers(model.layers)]
    return [*(sentences or ["No study has a finding beyond chance here."]), *layers, summed_up(judgements)]


def _linked(source: Source, directory: Path) -> dict[str, str]:
    attrs = source.result.attrs
    link = page_within(source, directory)
    return {"study": str(attrs["study"]), "corpus": str(attrs["corpus"]), "n": f"{attrs['n_examples']:,}", "link": link}


def portrait(
    folders: Sequence[str | Path], directory: Path, *, left_out: Sequence[tuple[str, str]] = ()
) -> tuple[list[Path], list[tuple[MeasuredModel, list[Judgement]]]]:
    """Write `index.html`, `heads.html`, `layers.html` and `corpora.html` of all results in some folders.

    Returns: the pages, the portrait first; and the models with the verdicts on the claims of the papers.
    """
    models, papers = gather_all(folders), read_papers()
    with_heads = [model for model in models if len(model.numbers)]
    pages = [write_heads(with_heads, directory)] if with_heads else []
    pages += filter(None, [write_layers(models, directory), write_corpora(models, directory)])
    names = [page.name for page in pages]
    judged = [(model, judge(model, papers)) for model in models]
    first = write_portrait(judged, directory, left_out=left_out, beside=names)
    return [first, *pages], judged


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
    """The counts of verdicts and the rows of each paper, for a template; with links to study pages in the directory.

    The rows of measured claims, and of the others.
    """
    measured: dict[str, list[dict[str, str]]] = {}
    others: dict[str, list[dict[str, str]]] = {}
    for judged in judgements:
        claim = judged.claim
        row = {"id": claim.id, "section": claim.section, "claim": claim.claim, "verdict": judged.verdict}
        row |= {"here": words.measured(judged), "details": words.details(judged), "figure": words.short_figure(judged)}
        row["token"] = words.token(judged)
        row["page"] = page_within(judged.source, directory) if judged.source and directory else ""
        papers = measured if judged.verdict in JUDGED else others
        papers.setdefault(judged.paper.title, []).append(row)
    left = f"{several(sum(map(len, others.values())), 'claim')} not measured here"
    sums = {"counts": words.counted(judgements), "sum": words.summed_up(judgements), "note": words.NOTE}
    return sums | {"measured": measured, "others": others, "left": left}

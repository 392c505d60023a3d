"""The pages of a folder of results that stand beside those of the studies: portrait, heads, layers."""

from collections.abc import Sequence
from pathlib import Path

from headscope.papers import Judgement, judge, read_papers
from headscope.papers.portrait import write_portrait
from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import gather_all
from headscope.report.corpora_page import write_corpora
from headscope.report.heads_page import write_heads
from headscope.report.layers_page import write_layers


def portrait(
    folders: Sequence[str | Path], directory: Path, *, left_out: Sequence[tuple[str, str]] = ()
) -> tuple[list[Path], list[tuple[MeasuredModel, list[Judgement]]]]:
    """Write `index.html`, `heads.html`, `layers.html` and `corpora.html` of all results in some folders.

    Returns: the pages, the portrait first; and the models with the verdicts on the claims of the papers.

    Raises `HeadscopeError` if a folder has no result, one cannot be read, or it cannot be written to.
    """
    models, papers = gather_all(folders), read_papers()
    with_heads = [model for model in models if len(model.numbers)]
    pages = [write_heads(with_heads, directory)] if with_heads else []
    pages += filter(None, [write_layers(models, directory), write_corpora(models, directory)])
    names = [page.name for page in pages]
    judged = [(model, judge(model, papers)) for model in models]
    first = write_portrait(judged, directory, left_out=left_out, beside=names)
    return [first, *pages], judged

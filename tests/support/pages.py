"""The page of a saved result and the cards of its heads, as files without the figures beside them.

SVG, PDF and PNG of a figure take longer than the page, and have tests of their own; the page has the charts.
"""

from pathlib import Path
from typing import Any
from unittest.mock import patch

from xarray import Dataset

from headscope import report
from headscope.report.cards import card, gather
from headscope.report.heads_page import write_card, write_heads

WITHOUT_FILES = ("headscope.report.result_page.saving", "headscope.report.heads_page.save_spec")


def not_written(result: Dataset, directory: Path, **_: Any) -> Path:
    """In the place of `report.write`, which takes longer than most tiny studies: the path of no page."""
    return directory / "report.html"


def page_of(directory: Path) -> str:
    """Write the page of the result in `directory`; return its text.

    Raises `DrawingError` if a part of it cannot be made.
    """
    with patch(WITHOUT_FILES[0]):
        return report.rebuild(directory).read_text(encoding="utf-8")


def cards_of(directory: Path) -> dict[str, str]:
    """Write the page of all heads of the result in `directory`, and the card of the last; return their text by name.

    A result without heads has none.
    """
    models = gather([directory])
    pages = [write_heads(models, directory)] if models else []
    with patch(WITHOUT_FILES[1]):
        pages += [write_card(head_card, directory) for model in models for head_card in card([model], *model.heads[-1])]
    return {page.name: page.read_text(encoding="utf-8") for page in pages}

"""The snapshot of a study's page: verdicts, numbers, and the names of its charts and tables; its words are free.

SNAPSHOTS=write pytest tests/studies    # writes the `.txt` beside each such test anew; read the difference
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import xarray as xr

from headscope.report.cards import Card
from headscope.report.parts import Finding
from headscope.report.study_page import study_page

# A head such as 2-3, or a number with its sign and per cent.
NUMBER = re.compile(r"\b\d+-\d+\b|[-+]?\d[\d,]*(?:\.\d+)?%?")


def assert_page(test: str, results: Mapping[str, xr.Dataset], claims: Mapping[str, xr.Dataset] | None = None) -> None:
    """The pages of some planted results are those of the snapshot beside the test.

    * `test`: its file; `results`: by the name of a case.
    * `claims`: cases of which only highlights and claims are compared.
    """
    cases = {name: (f"# {name}", *_page(result)) for name, result in results.items()}
    for name, result in (claims or {}).items():
        page = study_page(result)
        claimed = [finding for finding in page.findings() if finding.claim]
        cases[name] = (f"# {name}", *_said("highlight", page.highlights()), *_said("finding", claimed))
    assert_lines(test, (line for case in cases.values() for line in case))


def assert_cards(test: str, cards: Mapping[str, Card]) -> None:
    """The sentences of some cards are those of the snapshot beside the test; see `assert_page`."""
    findings = {name: [finding for part in card.parts for finding in part.findings] for name, card in cards.items()}
    assert_lines(test, (line for name in cards for line in (f"# {name}", *_said("card", findings[name]))))


def assert_lines(test: str, lines: Iterable[str]) -> None:
    """The lines are those of the snapshot beside the test."""
    path, text = Path(test).with_suffix(".txt"), "\n".join(lines) + "\n"
    if os.environ.get("SNAPSHOTS") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "SNAPSHOTS=write pytest writes it anew"


def _page(result: xr.Dataset) -> Iterator[str]:
    page = study_page(result)
    yield from _said("highlight", page.highlights())
    yield from _said("finding", page.findings())
    for table in page.tables():
        yield f"table {table.name}: " + ", ".join(column.key for column in table.columns)
        for labels, cells in table.rows:
            yield "  " + " | ".join([*map(str, labels), *(cell[0] if cell else "" for cell in cells)]).rstrip()
    for figure in page.figures():
        yield f"figure {figure.name}"


def _said(part: str, findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        yield " ".join([part, finding.verdict or "-", *NUMBER.findall(f"{finding.topic} {finding.text}")])

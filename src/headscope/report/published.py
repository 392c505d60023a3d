"""Published figures beside the same numbers of a result: one table, the last of a study's page."""

from collections.abc import Iterable
from dataclasses import dataclass

from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import LEVELS, Cell

NAME = "published"


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published number, and the same number of a result.

    * `words`: what the number is, one text for each key column of the table.
    * `here`: the number of the result and its interval; `paper`: the published one, as it is written.
    * `source`: where it is published; `level`: how that was checked, a key of `LEVELS`.
    """

    words: tuple[str, ...]
    here: Cell
    paper: str
    source: str
    level: str

    @property
    def cells(self) -> Cells:
        """The number here, the published one, and its source with how sure it is."""
        return [self.here, (self.paper, ""), (f"{self.source} ({LEVELS[self.level]})", "")]


def published_table(
    figures: Iterable[PublishedFigure], caption: str, *, keys: tuple[str, ...] = ("Number",), model: str = "BERT-base"
) -> list[Table]:
    """The figures as a table; none without a figure.

    * `model`: the published one.

    >>> figure = PublishedFigure(("heads that matter alone",), ("3 of 72", ""), "8 of 96", "Michel et al. 2019", "P")
    >>> published_table([figure], "Beside the papers.")[0].rows
    [(('heads that matter alone',), [('3 of 72', ''), ('8 of 96', ''), ('Michel et al. 2019 (read in the paper)', '')])]
    >>> published_table([], "Beside the papers.")
    []
    """
    rows = [(figure.words, figure.cells) for figure in figures]
    columns = (Column("here", "This model"), Column("paper", model), Column("source", "Source"))
    return [Table(NAME, caption, keys, columns, rows)] if rows else []

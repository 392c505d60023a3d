"""The tables of `cloze`: accuracies, predictions that stay, facts, pieces, and published figures beside them."""

import xarray as xr

from headscope.report.tables import Table
from headscope.studies.cloze.page.accuracies import accuracies
from headscope.studies.cloze.page.more_tables import more_tables
from headscope.studies.cloze.page.published import published


def tables(result: xr.Dataset) -> list[Table]:
    """All tables, that of accuracies first."""
    return [accuracies(result), *more_tables(result), *published(result)]

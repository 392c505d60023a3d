"""The tables of a result that its study lays out itself."""

import importlib

import xarray as xr

from headscope import catalog
from headscope.report._tables import Table

FOLDER = "report/tables"


def shown(result: xr.Dataset) -> list[Table]:
    """The tables of the result's study, in the order of the page; most studies have none.

    They are made by `tables(result)` in the module of the study's name beside this one.
    """
    if (study := str(result.attrs["study"])) not in catalog.names(FOLDER):
        return []
    return importlib.import_module(f"headscope.report.tables.{study}").tables(result)

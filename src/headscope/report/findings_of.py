"""The findings of a result: those of its study, else generic ones."""

import importlib

import xarray as xr

from headscope import catalog
from headscope.report.parts import Finding

FOLDER = "report/findings"


def found(result: xr.Dataset) -> list[Finding]:
    """The findings of a result, in the order in which they are told.

    A study's own are in the module of its name beside this one; other studies get `generic`.
    """
    known = catalog.names(FOLDER)  # looked up, never built from the study's name: a result file may hold anything
    study = result.attrs["study"] if result.attrs["study"] in known else "generic"
    return importlib.import_module(f"headscope.report.findings.{study}").findings(result)

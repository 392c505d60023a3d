"""Results as rich output in a notebook: Jupyter, VS Code, and others with an IPython kernel."""

import sys
from importlib import import_module
from typing import Any


def show_results_in_notebooks() -> None:
    """Let IPython show results by `headscope.report.notebook`; without IPython nothing happens.

    A result is a plain `xarray.Dataset`, whose subclasses xarray advises against. IPython keeps a formatter for each
    class, and looks this one up by its name: xarray is not imported before a data set is shown.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        html = shell.display_formatter.formatters["text/html"]
        html.for_type_by_name("xarray.core.dataset", "Dataset", _html)


def _html(dataset: Any) -> str:
    """The output of a cell that ends with a data set; templates and figures are imported here, at its first use."""
    return import_module("headscope.report.notebook").dataset_html(dataset)

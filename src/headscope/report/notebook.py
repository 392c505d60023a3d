"""A result as the output of a notebook's cell: main findings, atlas, and the data set as xarray shows it."""

import xarray as xr
from markupsafe import Markup

from headscope import results
from headscope.report.atlas import atlas_of
from headscope.report.facts import described
from headscope.report.kinds import COLOURS
from headscope.report.render import TEMPLATES, fragment
from headscope.report.study_page import study_page


def dataset_html(dataset: xr.Dataset) -> str:
    """A data set as HTML for a notebook: a result of headscope as `result_html`, others as xarray shows them.

    A slice of a result that lacks what its page needs is shown by xarray.
    """
    try:
        return result_html(dataset)
    except Exception:  # an output of a cell never fails: xarray shows every data set
        return dataset._repr_html_()


def result_html(result: xr.Dataset) -> str:
    """A result as HTML without scripts, for the output of a cell: nothing is fetched, all text of a result is escaped.

    Raises `ValueError` if the data set is not a whole result.
    """
    page = study_page(results.check(result))
    return fragment(
        "notebook.html",
        **described(result),
        highlights=page.highlights(),
        findings=page.findings(),
        atlas=atlas_of(result),
        colours=COLOURS,
        style=(TEMPLATES / "notebook.css").read_text(encoding="utf-8"),
        dataset=Markup(result._repr_html_()),  # xarray escapes it
    )

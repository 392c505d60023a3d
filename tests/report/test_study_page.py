"""The page of a study falls back on what every page says."""

import xarray as xr

from headscope.report.study_page import study_page


def test_a_page_of_other_variables_says_what_every_page_says() -> None:
    """As after a copy of the template whose measure alone was changed."""
    values = xr.DataArray(
        [[0.5, 0.25]], {"layer": [1], "head": [1, 2]}, attrs={"long_name": "largest attention", "units": "share"}
    )
    attrs = {"study": "_template", "model": "minilm", "corpus": "sample"}
    page = study_page(xr.Dataset({"sharpest": values}, attrs=attrs))
    (finding,) = page.findings()
    assert finding.topic.startswith("Largest attention") and finding.text == "0.25 to 0.50, median 0.38."

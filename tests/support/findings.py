"""The findings of a page by topic."""

import xarray as xr

from headscope.report.study_page import study_page


def texts_of(result: xr.Dataset) -> dict[str, str]:
    """The text of each finding."""
    return {finding.topic: finding.text for finding in study_page(result).findings()}


def all_texts_of(result: xr.Dataset) -> dict[str, str]:
    """The text of each highlight and each finding."""
    page = study_page(result)
    return {finding.topic: finding.text for finding in (*page.highlights(), *page.findings())}


def verdicts_of(result: xr.Dataset) -> dict[str, str | None]:
    """The verdict of each highlight; None of one that is no claim."""
    return {finding.topic: finding.verdict for finding in study_page(result).highlights()}

"""Findings of the study: sentences with their numbers, intervals and cases."""

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import examples, listed, measured, strongest

MOST = 3


def findings(result: xr.Dataset) -> list[Finding]:
    """The heads that look most at the token itself.

    A variable that has no values, as on a corpus without what is measured, has no finding.
    """
    own = measured(result, "template")
    if own is None:
        return []
    return [Finding("The token itself", f"Most attention to it: {listed(strongest(own)[:MOST])}.{examples(own)}")]

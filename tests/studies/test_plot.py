"""Every variable of every study can be drawn, or one line says why not."""

from collections.abc import Callable

import pytest
import xarray as xr

import headscope
from headscope import results
from headscope.errors import HeadscopeError
from support.every_study import STUDIES, Run


@pytest.mark.parametrize("study", STUDIES)
def test_every_variable_of_every_study_has_a_chart_or_a_clear_error(
    study: str, ended: Callable[[str, str], Run]
) -> None:
    result = headscope.open_result(ended(study, "annotated").directory)
    drawn = [name for name in results.means(result) if _drawn(result, name)]
    assert drawn


def _drawn(result: xr.Dataset, name: str) -> bool:
    try:
        headscope.plot(result, name).to_dict()
    except HeadscopeError as error:
        assert "to draw" in str(error) or "select a label" in str(error)
        return False
    return True

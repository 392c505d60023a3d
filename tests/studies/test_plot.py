"""Variables of every study, of each shape and unit, can be drawn, or one line says why not."""

from collections.abc import Callable

import pytest
import xarray as xr

import headscope
from headscope import results
from headscope.errors import HeadscopeError
from support.every_study import STUDIES, Run


@pytest.mark.parametrize("study", STUDIES)
def test_variables_of_every_shape_and_unit_have_a_chart_or_a_clear_error(
    study: str, ended: Callable[[str, str], Run]
) -> None:
    result = headscope.open_result(ended(study, "annotated").directory)
    kinds = {(result[name].dims, result[name].attrs.get("units")): name for name in results.means(result)}
    drawn = [name for name in kinds.values() if _drawn(result, name)]
    assert drawn


def _drawn(result: xr.Dataset, name: str) -> bool:
    try:
        headscope.plot(result, name).to_dict()
    except HeadscopeError as error:
        assert "to draw" in str(error) or "select a label" in str(error)
        return False
    return True

"""Variables of every study, of each shape and unit, can be drawn, or one line says why not."""

from collections.abc import Callable

import pytest
import xarray as xr

import headscope
from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.study_page import StudyPage, study_page
from support.every_study import STUDIES, Run
from support.tiers import in_turn


@pytest.mark.parametrize("study", in_turn(STUDIES))
def test_variables_of_every_shape_and_unit_have_a_chart_or_a_clear_error(
    study: str, ended: Callable[[str, str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = headscope.open_result(ended(study, "annotated").directory)
    figures = study_page(result).figures()
    monkeypatch.setattr(StudyPage, "figures", lambda page: figures)  # they are the same for each variable
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

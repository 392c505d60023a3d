"""The command of a saved result, run again on the same machine, gives the same bytes, times apart."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headscope import results
from support.every_study import STUDIES, Run, run
from support.tiers import in_turn

TIMES = {"started", "duration_s", "forward_s", "shrinking"}


@pytest.mark.parametrize("study", in_turn(STUDIES, at=1))
def test_a_result_is_made_again_to_the_bit(study: str, ended: Callable[[str, str], Run], tmp_path: Path) -> None:
    first = ended(study, "two examples")
    again = run("rerun", first.directory, "--tolerance", "0", out=tmp_path, page=False)
    assert again.status == 0, again.output + again.errors
    assert "model: the same (" in again.output and "variables are equal" in again.output
    saved, new = (results.read(folder) for folder in (first.directory, tmp_path))
    kept, again_kept = ([name for name in one if not str(name).startswith("typical_")] for one in (saved, new))
    assert again_kept == kept
    for name in new.variables:
        assert new[name].dtype == saved[name].dtype and new[name].values.tobytes() == saved[name].values.tobytes()
    same = {name: value for name, value in saved.attrs.items() if name not in TIMES}
    assert {name: value for name, value in new.attrs.items() if name not in TIMES} == same

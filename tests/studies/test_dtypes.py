"""Every study runs in every type of numbers in which its model can be loaded."""

from pathlib import Path

import pytest

from support.every_study import STUDIES, arguments, run
from support.tiers import paired

TRAINED = {"finetune", "landscape", "pretrain", "pretrain_head", "shrink"}  # which train in single precision
CELLS = paired([study for study in STUDIES if study not in TRAINED], ["bfloat16", "float64"])


@pytest.mark.parametrize(("study", "dtype"), CELLS)
def test_study_runs_in_other_types(study: str, dtype: str, cases: Path, tmp_path: Path) -> None:
    ended = run(*arguments(study, "two examples", cases), "--dtype", dtype, out=tmp_path, page=False)
    assert ended.status == 0, ended.errors

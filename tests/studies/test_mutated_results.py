"""Mutated results of every study make whole pages, cards and tables, or are refused; `make fuzz` has more."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from fuzz.result_mutations import mutate_result
from fuzz.saved_results import take_result
from headscope.errors import HeadscopeError
from support.every_study import STUDIES, Run
from support.tiers import in_turn


@pytest.mark.parametrize("study", in_turn(STUDIES))
def test_mutated_results_are_shown_or_refused(study: str, ended: Callable[[str, str], Run], tmp_path: Path) -> None:
    good = (ended(study, "annotated").directory / "result.nc").read_bytes()
    try:
        take_result(mutate_result(good, Random(study)), tmp_path)
    except HeadscopeError as error:
        assert "\n" not in str(error)

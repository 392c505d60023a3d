"""A saved result without some variables of its study is shown by page and cards, or refused in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest
import xarray as xr

from headscope import results
from headscope.report.study_page import study_page
from support.cli import run_command
from support.every_study import STUDIES, Run
from support.tiers import in_turn

SOME = 2


def parts(result: xr.Dataset) -> None:
    """Make all parts of the page."""
    page = study_page(result)
    for make in (page.highlights, page.findings, page.figures, page.tables, page.kinds):
        make()


def incomplete(result: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """The result without any variable, and without one of some variables, spread over all of them."""
    names = results.means(result)
    single = names[:: max(1, len(names) // SOME)]
    beside = {name: [variable for variable in result if str(variable).startswith(f"{name}_")] for name in single}
    return [("all", result.drop_vars(list(result.data_vars)))] + [
        (name, result.drop_vars([name, *beside[name]])) for name in single
    ]


@pytest.mark.parametrize("study", in_turn(STUDIES, at=1))
def test_a_missing_variable_leaves_its_parts_out(study: str, ended: Callable[[str, str], Run], tmp_path: Path) -> None:
    complete = results.read(ended(study, "annotated").directory)
    for _, result in incomplete(complete):
        parts(result)
    for name, result in incomplete(complete)[:2]:
        folder = tmp_path / name
        results.save(result, folder)
        for words in (["head", str(folder)], ["head", "1-1", str(folder)]):
            done = run_command(*words)
            assert done.exit_code in (0, 2), (name, words, done.exception)
            assert done.stderr.count("\n") <= 1, (name, words, done.stderr)

"""Every study's results on tiny models, shared by the tests of all studies."""

from collections.abc import Callable
from functools import cache

import pytest

from support.every_study import Run, arguments, prepare, run


@pytest.fixture(scope="session")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Run]:
    """Run a study in a case of `support.every_study`, once."""
    folder = prepare(tmp_path_factory.mktemp("cases"))
    return cache(lambda study, case: run(*arguments(study, case, folder), out=folder / "out" / case / study))

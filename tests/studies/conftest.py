"""Every study's results on tiny models, shared by the tests of all studies."""

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from filelock import FileLock

from headscope.studies.size.shrink import number_formats
from support.every_study import WHOLE_RESULTS, Run, arguments, prepare, run, small_onnx


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The models, texts and tasks of `support.every_study`, written once for all processes of the tests."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "cases"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            folder.mkdir()
            prepare(folder)
    return folder


@pytest.fixture(scope="session")
def ended(cases: Path) -> Callable[[str, str], Run]:
    """Run a study in a case of `support.every_study`, once for all processes of the tests.

    The pages of whole results are written by the tests of the contract.
    """

    def once(study: str, case: str) -> Run:
        out = cases / "out" / case / study
        out.parent.mkdir(parents=True, exist_ok=True)
        kept = out.with_suffix(".json")
        with FileLock(f"{out}.lock"):
            if not kept.exists():
                with patch.object(number_formats, "export", small_onnx):
                    done = asdict(run(*arguments(study, case, cases), out=out, page=case != WHOLE_RESULTS))
                kept.write_text(json.dumps(done | {"directory": str(out)}), encoding="utf-8")
            done = json.loads(kept.read_text(encoding="utf-8"))
        return Run(**done | {"directory": Path(done["directory"])})

    return cache(once)

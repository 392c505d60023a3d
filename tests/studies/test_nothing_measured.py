"""A result without any value has a page that says so, and tables; heads of which nothing is known are refused."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from headscope import results
from support.every_study import STUDIES, Run, run
from support.tiers import in_turn
from support.tiny import save_tiny

PUNCTUATION = "1\tSlept\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"

# Studies with words of their own for a result without a value.
OWN = {"patterns": ("No maps", "use longer texts")}


@pytest.mark.parametrize("study", in_turn(STUDIES, at=2))
def test_a_result_without_a_value_has_a_page_that_says_so(study: str, ended: Callable, tmp_path: Path) -> None:
    saved: Run = ended(study, "annotated")
    result = results.read(saved.directory)
    numbers = [name for name, array in result.items() if array.dtype.kind == "f" and name != "typical_map_maximum"]
    results.save(result.assign({name: result[name].where(False, np.nan) for name in numbers}), tmp_path)
    assert run("report", tmp_path, "--no-figures").status == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    topic, remedy = OWN.get(study, ("Nothing was measured", "Read more examples"))
    assert topic in page and remedy in page
    assert run("export", tmp_path).status == 0
    assert run("head", tmp_path).errors.count("\n") <= 1


def test_links_without_baselines_have_a_page_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "punctuation.conllu").write_text(PUNCTUATION * 3, encoding="utf-8")
    model = save_tiny(tmp_path / "model")
    ended = run("relations", model, tmp_path / "punctuation.conllu", "--resamples", "20", out=tmp_path / "out")
    assert ended.status == 0, ended.errors
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Nothing could be compared" in page and "longer sentences" in page and "above nan" not in page

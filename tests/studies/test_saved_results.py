"""Results that version 0.1 saved still open: their numbers, their page and the cards of their heads.

`tests/data/version-0.1` was made by `benchmarks/same_numbers.py` with a tiny model on the bundled sample.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape

from headscope import catalog, results
from headscope.report.study_page import study_page
from support.pages import cards_of, page_of
from support.tiers import in_turn

DATA = Path(__file__).parents[1] / "data" / "version-0.1"
SAVED = sorted(path.name.removesuffix(".nc.gz") for path in DATA.iterdir())


def opened(name: str, directory: Path) -> Path:
    """Unpack a saved result as a study writes it."""
    (directory / "result.nc").write_bytes(gzip.decompress((DATA / f"{name}.nc.gz").read_bytes()))
    return directory


def test_every_study_of_that_version_has_a_saved_result(tmp_path: Path) -> None:
    studies = {str(results.read(opened(name, tmp_path)).attrs["study"]) for name in SAVED}
    assert len(studies) == 12 and studies <= set(catalog.names("studies"))


@pytest.mark.parametrize("name", in_turn(SAVED, of=2))
def test_saved_result_opens_with_its_page_and_its_cards(name: str, tmp_path: Path) -> None:
    result = results.read(opened(name, tmp_path))
    numbers = [array for array in result.data_vars.values() if np.issubdtype(array.dtype, np.number)]
    assert any(bool(array.notnull().any()) for array in numbers)
    page, findings = page_of(tmp_path), study_page(result).findings()
    assert findings and all(str(escape(finding.topic)) in page for finding in findings)
    assert bool(cards_of(tmp_path)) == ({"layer", "head"} <= set(result.dims))

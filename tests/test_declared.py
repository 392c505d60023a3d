"""What README and docs say of studies is what these declare."""

from pathlib import Path

import pytest

from headscope import catalog
from headscope.results.vocabulary import DIMENSIONS
from support.docs_tools import declared


@pytest.mark.parametrize("page", declared.pages(), ids=lambda page: page.name)
def test_a_page_has_the_lists_and_numbers_that_studies_declare(page: Path) -> None:
    assert declared.written(page) == page.read_text(encoding="utf-8"), "run: python docs/tools/declared.py"


def test_a_number_is_declared_once() -> None:
    for name, study in declared.declared().items():
        names = [number.name for number in declared.numbers(study)]
        assert len(set(names)) == len(names), name
        assert not names or set(study.required) <= set(names), name


def test_dimensions_are_declared_once() -> None:
    owners = [name for study in catalog.names("studies") for name in catalog.study(study).dims]
    assert len(owners) == len(set(owners)) and not set(owners) & set(DIMENSIONS)

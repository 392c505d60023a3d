"""Whom to cite: every paper that a number names has an entry, and a result's entries are those of its numbers."""

import re

import pytest

import headscope
from headscope import catalog
from headscope.papers.citations import bibliography, laid_out, methods
from headscope.study import Number
from support.cli import run_command
from support.profile_result import profile_result

CITED = re.compile(r"[A-Z][\w-]+(?: et al\.| and [A-Z][\w-]+)? (?:19|20)\d\d")


@pytest.mark.parametrize("study", [*catalog.names("studies"), "_template"])
def test_every_paper_that_a_number_names_has_an_entry(study: str) -> None:
    declared = catalog.study(study)
    texts = [declared.source, *(text for number in declared.numbers for text in _texts(number))]
    known = " ".join(bibliography())
    assert [paper for text in texts for paper in CITED.findall(text) if paper not in known] == []


def _texts(number: Number) -> tuple[str, ...]:
    return number.what, number.source or "", number.definition


def test_an_entry_is_one_and_laid_out_as_bibtex() -> None:
    for citation, entry in bibliography().items():
        fields = laid_out(entry).splitlines()
        assert fields[0].startswith("@") and fields[-1] == "}" and citation.endswith(fields[-2][-6:-2]), citation
        assert {"author", "title", "year"} <= {field.split()[0] for field in fields[1:-1]}, citation
        assert entry.count("{") == entry.count("}"), citation
    assert len({entry.split(",")[0] for entry in bibliography().values()}) == len(bibliography())


def test_a_result_names_the_papers_of_its_numbers_and_says_how_they_were_made() -> None:
    result = profile_result()
    said = headscope.cite(result)
    assert "@inproceedings{clark2019," in said and "{michel2019," not in said
    assert "{michel2019," in headscope.cite(
        result.assign(x=((), 0.0, {"source": "after Michel et al. 2019, section 3"}))
    )
    assert said.startswith(methods(result)) and f"headscope {result.attrs['headscope_version']}" in methods(result)
    assert f"{result.sizes['layer']} layers of {result.sizes['head']} heads" in methods(result)
    assert "{rogers2020," in headscope.cite()


def test_the_command_prints_the_entries_of_a_folder(tmp_path) -> None:
    headscope.save_result(profile_result(), tmp_path)
    result = run_command("cite", tmp_path)
    assert result.exit_code == 0 and result.stdout.startswith("We measured ")
    assert result.stdout.split("\n\n", 1)[1].strip() == headscope.cite(profile_result()).split("\n\n", 1)[1]
    assert run_command("cite", tmp_path / "nothing").exit_code == 2

"""The command `claims` and `headscope.claims`: verdicts printed, as JSON, as a page and as Markdown."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import headscope
from headscope import results
from support.cli import run_command
from support.profile_result import profile_result

HOSTILE = "<script>alert(1)</script> | a"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Profiles of two models."""
    directory = tmp_path_factory.mktemp("results")
    results.save(profile_result(), directory / "profile")
    results.save(profile_result(3, 3, model="other", model_sha256="ef" * 32, corpus=HOSTILE), directory / "other")
    return directory


def test_verdicts_are_printed_for_each_model(folder: Path) -> None:
    printed = run_command("claims", folder).stdout
    assert "tiny" in printed and "other" in printed and printed.count("claims ") >= 2
    assert "C1" in printed and "C15" not in printed
    assert "C15" in run_command("claims", folder, "--all").stdout


def test_json_has_one_record_for_each_claim(folder: Path) -> None:
    printed = json.loads(run_command("claims", folder, "--json").stdout)
    claims = {claim["id"]: claim for claim in printed["models"][0]["claims"]}
    assert printed["schema"] == 1 and len(claims) > 70
    first = claims["C1"]
    assert first["verdict"] in ("holds", "fails", "undecided") and first["where"].startswith("head ")
    assert first["interval"][0] <= first["difference"] <= first["interval"][1] and first["n"] > 0
    assert claims["C15"]["verdict"] == "not measured" and claims["C15"]["value"] is None
    assert claims["C15"]["reason"].startswith("headscope probe")


def test_page_and_document_are_written_and_escaped(folder: Path, tmp_path: Path) -> None:
    ended = run_command("claims", folder, "-o", tmp_path, "--markdown", tmp_path / "claims.md")
    page, document = (tmp_path / name for name in ("claims.html", "claims.md"))
    assert ended.stdout.splitlines()[-2:] == [str(page), str(document)]
    html = page.read_text()
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html and "What Does BERT Look At?" in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "| C1 | 3.1 |" in document.read_text() and "\\| a" in document.read_text()


def test_claims_of_ones_own_are_judged_beside_the_papers(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    number = "{variable: entropy, mean: [layer, head]}"
    own.write_text(
        "schema: 1\npaper: mine\nclaims:\n"
        f"- {{id: X1, section: '1', claim: Broad., study: profile, rule: above, limit: 0.1, number: {number}}}\n"
    )
    printed = json.loads(run_command("claims", folder, "--claims", own, "--json").stdout)
    assert printed["models"][0]["claims"][-1]["id"] == "X1"
    own.write_text(own.read_text().replace(", mean: [layer, head]", ""))
    refused = run_command("claims", folder, "--claims", own)
    assert refused.exit_code == 2 and refused.stderr.count("\n") == 1
    assert "takes a number by no dimension, 'entropy' has layer, head" in refused.stderr


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    refused = run_command("claims", tmp_path)
    assert refused.exit_code == 2 and "has no results" in refused.stderr


def test_python_gives_a_table_of_verdicts(folder: Path) -> None:
    table = headscope.claims(profile_result())
    assert table.set_index("id").loc["C1", "verdict"] == run_verdict(folder)
    assert len(headscope.claims([folder / "profile", folder / "other"])) == 2 * len(table)
    with pytest.raises(headscope.HeadscopeError, match="there is no result"):
        headscope.claims([])


def run_verdict(folder: Path) -> str:
    models = json.loads(run_command("claims", folder / "profile", "--json").stdout)["models"]
    return next(claim["verdict"] for claim in models[0]["claims"] if claim["id"] == "C1")


@pytest.mark.thorough
def test_claims_need_no_torch(folder: Path) -> None:
    code = "import sys, headscope; headscope.claims(sys.argv[1]); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)

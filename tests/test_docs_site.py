"""The documentation site is built strictly, asks no other host for anything, and says what the package says."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from headscope.version import __version__

ROOT = Path(__file__).parents[1]
OFFLINE = runpy.run_path(str(ROOT / "docs/tools/offline.py"))
DOCSTRINGS = runpy.run_path(str(ROOT / "docs/tools/docstrings.py"))


def test_the_site_is_built_strictly_and_asks_no_other_host(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert OFFLINE["outside"](tmp_path) == []
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert 'id="headscope.studies.syntax.study.run"' in reference and "subtypes" in reference
    assert "Option(" not in reference
    assert not (tmp_path / "tools").exists()


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="http://img.example/x.png">',
        "<style>@import 'https://cdn.example/x.css';</style>",
        '<div style="background: url(https://img.example/x.png)"></div>',
    ],
)
def test_a_request_to_another_host_is_found(tag, tmp_path):
    (tmp_path / "index.html").write_text(f"<p>{tag}</p>", encoding="utf-8")
    assert len(OFFLINE["outside"](tmp_path)) == 1


def test_a_link_that_a_reader_may_click_is_none(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="https://aclanthology.org/">x</a><link rel="canonical" href="https://x.example/"><img src="x.png">',
        encoding="utf-8",
    )
    assert OFFLINE["outside"](tmp_path) == []


def test_examples_of_docstrings_are_code():
    text = "Sum.\n\n>>> 1 + 1\n2\n\n>>> 3\n3\n"
    assert DOCSTRINGS["fenced"](text) == "Sum.\n\n```pycon\n>>> 1 + 1\n2\n```\n\n```pycon\n>>> 3\n3\n```\n"


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")

"""The documentation site is built strictly, asks no other host for anything, and says what the package says."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from headscope.version import __version__

ROOT = Path(__file__).parents[1]
OFFLINE = runpy.run_path(str(ROOT / "docs/tools/offline.py"))
EXAMPLE = "example/"  # made after the pages, by docs/tools/example.py
WRAP = runpy.run_path(str(ROOT / "docs/tools/wrap.py"))
DOCSTRINGS = runpy.run_path(str(ROOT / "docs/tools/docstrings.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out" / "site"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_site_is_built_strictly_and_asks_no_other_host(site):
    assert [line for line in OFFLINE["faults"](site) if EXAMPLE not in line] == []
    reference = (site / "api.html").read_text(encoding="utf-8")
    assert 'id="headscope.studies.heads.syntax.study.run"' in reference and "subtypes" in reference
    assert "Option(" not in reference
    assert not (site / "tools").exists()


def test_its_search_works_where_it_is_opened_as_files(site, browser):
    browser.set_window_size(1280, 900)
    browser.get((site / "index.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "button.md-search__button").click()
    focused = "return document.activeElement.shadowRoot?.activeElement"  # the field is in a shadow root
    WebDriverWait(browser, 20).until(lambda page: page.execute_script(focused)).send_keys("head")
    found = r"return /[1-9]\d* results/.test(document.activeElement.shadowRoot?.textContent)"
    WebDriverWait(browser, 20).until(lambda page: page.execute_script(found))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two pages with the settings of the whole one."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copytree(ROOT / "docs" / "tools", folder / "docs" / "tools")
    shutil.copy(ROOT / "docs" / "site.css", folder / "docs")
    settings, _, _ = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    menu = "nav:\n  - Start: index.md\n  - Speed: speed.md\n"
    (folder / "mkdocs.yml").write_text(f"{settings}\n{menu}", encoding="utf-8")
    (folder / "docs" / "speed.md").write_text("# Speed\n\n## Memory\n", encoding="utf-8")
    (folder / "src").symlink_to(ROOT / "src")
    return folder


@pytest.mark.parametrize(
    ("line", "built"),
    [
        ("[x](speed.md#memory)\n\n::: headscope.version", True),
        ("[x](missing.md)", False),
        ("[x](speed.md#missing)", False),
        ("::: headscope.missing", False),
    ],
)
def test_a_fault_of_a_page_ends_the_build(small, line, built):
    (small / "docs" / "index.md").write_text(f"# Start\n\n{line}\n", encoding="utf-8")
    done = build(small)
    assert (done.returncode == 0) == built, done.stdout + done.stderr


def test_the_first_page_links_the_pages_of_the_example():
    made = runpy.run_path(str(ROOT / "docs/tools/example.py"))
    linked = re.findall(r"\(example/([^)]+)\)", (ROOT / "docs/index.md").read_text(encoding="utf-8"))
    assert linked == [*made["PAGES"], made["VIEWER"]]


def test_a_missing_file_and_a_page_beside_the_menu_are_found(tmp_path):
    menu = '<a class="md-nav__link" href="./index.html">x</a>'
    (tmp_path / "index.html").write_text(f'{menu}<img src="no.png"><a href="b.html#x">x</a>', encoding="utf-8")
    (tmp_path / "b.html").write_text('<a href="no.html">x</a><a href="/index.html">x</a>', encoding="utf-8")
    assert OFFLINE["faults"](tmp_path) == [
        "b.html: no.html: not there",
        "index.html: no.png: not there",
        "b.html: not in the menu; name it in mkdocs.yml",
    ]


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


def test_prose_alone_is_wrapped():
    prose, row = "word " * 40, f"| {'cell ' * 40}|"
    code = f"```\n{prose.strip()}\n```"
    page = f"# {prose.strip()}\n\n* {prose}\n* short\n\n{row}\n\n{code}\n\n    {prose.strip()}\n"
    lines = WRAP["wrapped"](page).splitlines()
    assert [line for line in lines if len(line) > 120] == [
        f"# {prose.strip()}", row, prose.strip(), f"    {prose.strip()}"
    ]  # fmt: skip
    assert lines[2].startswith("* word") and lines[3].startswith("  word") and lines[4] == "* short"
    assert WRAP["wrapped"]("\n".join([*lines, ""])).splitlines() == lines


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")

"""A live example for the docs: pages of a real result, of the built-in model on the built-in sample.

    python docs/tools/example.py out/site/example

It writes the portrait, the report of each study, the page of all heads, and a page of the viewer. Results are kept in
out/example.
"""

import sys
from pathlib import Path

import headscope
from headscope.papers.portrait import portrait
from headscope.report import rebuild_all

RESULTS = Path("out/example")
STUDIES = ("profile", "syntax")
# With a pronoun and what it stands for.
TEXT = "The keeper saw the ship because she looked up."
PAGES, VIEWER = ("index.html", "profile/report.html", "heads.html"), "viewer.html"


def measure() -> None:
    """Run the studies whose results are not there yet."""
    missing = [study for study in STUDIES if not (RESULTS / study / "result.nc").is_file()]
    if not missing:
        return
    model, corpus = headscope.load("minilm"), headscope.read("sample")
    for study in missing:
        headscope.save_result(getattr(headscope, study)(model, corpus), RESULTS / study)


def write(folder: Path) -> None:
    """Write the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [*rebuild_all(RESULTS, formats=()), portrait([RESULTS], RESULTS)[0][0]]
    for page in made:
        copy = folder / page.relative_to(RESULTS)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(page.read_bytes())
    results = [RESULTS / study for study in STUDIES]
    headscope.export_page(folder / VIEWER, "minilm", TEXT, results=results, state="h=2-9")


if __name__ == "__main__":
    measure()
    write(Path(sys.argv[1]))

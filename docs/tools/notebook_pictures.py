"""The pictures of docs/notebooks.md: a result and a view, as a cell of a notebook shows them; needs Chromium.

    python docs/tools/notebook_pictures.py

Results are kept in out/example.
"""

import re
import time
from html import unescape
from pathlib import Path

from chromium import missing, open_page, picture, start
from example import RESULTS, STUDIES, measure

import headscope
from headscope.report.notebook import dataset_html

DOCS, PAGE = Path(__file__).parents[1], Path("out/notebook.html")
SIZE = (1000, 700)
TEXT, STATE = "The old lighthouse keeper finally saw the ship.", "v=card&h=2-9"


def pages() -> dict[str, str]:
    """What cells show, as pages."""
    results = [RESULTS / study for study in STUDIES]
    frame = headscope.show("minilm", TEXT, results=results, state=STATE, static=True)._repr_html_()
    (view,) = re.findall('srcdoc="([^"]*)"', frame)
    result = headscope.open_result(RESULTS / "profile")
    style = "margin: 1rem; font-family: Arial, sans-serif; font-size: 13px"
    output = f'<meta charset="utf-8"><body style="{style}">{dataset_html(result)}'
    return {"notebook-result.png": output, "notebook-show.png": unescape(view)}


def main() -> None:
    """Take the pictures, or say why not."""
    if reason := missing():
        print(f"notebook-result.png, notebook-show.png: skipped, {reason}")
        return
    measure()
    browser = start()
    for name, page in pages().items():
        PAGE.write_text(page, encoding="utf-8")
        open_page(browser, PAGE.absolute().as_uri(), *SIZE)
        time.sleep(2)
        (DOCS / name).write_bytes(picture(browser))
    browser.quit()


if __name__ == "__main__":
    main()

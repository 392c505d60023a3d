"""The pictures of a report in README and docs, from the result of docs/tools/gallery.py; needs Chromium.

    python docs/tools/report_pictures.py

`docs/report.png` is the first screen, with the atlas; `docs/report-figures.png` the first section of figures.
"""

import time
from pathlib import Path

from chromium import missing, open_page, picture, start

from headscope.report import rebuild

DOCS, RESULT = Path(__file__).parents[1], Path("out/gallery/profile")
SIZE = (1280, 800)
TITLE = "Where attention goes"
SECTION = """
const title = [...document.querySelectorAll('h2')].find(title => title.textContent.trim().startsWith(arguments[0]));
title.scrollIntoView();
"""


def main() -> None:
    """Take both pictures, or say why not."""
    if reason := missing():
        print(f"report.png, report-figures.png: skipped, {reason}")
        return
    page = rebuild(RESULT, formats=("svg",))
    browser = start()
    open_page(browser, page.absolute().as_uri(), *SIZE)
    time.sleep(1)
    (DOCS / "report.png").write_bytes(picture(browser))
    browser.execute_script(SECTION, TITLE)
    time.sleep(2)
    (DOCS / "report-figures.png").write_bytes(picture(browser))
    browser.quit()


if __name__ == "__main__":
    main()

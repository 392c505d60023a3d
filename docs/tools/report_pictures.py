"""The pictures of pages in README and docs, from `make demo` and docs/tools/gallery.py; needs Chromium.

    python docs/tools/report_pictures.py

`docs/portrait.png` is the first screen of the portrait, `docs/report-figures.png` the first figures of a report.
"""

import time
from pathlib import Path

from chromium import missing, open_page, picture, start

from headscope.report import rebuild

DOCS, RESULT, DEMO = Path(__file__).parents[1], Path("out/gallery/profile"), Path("out/demo/index.html")
SIZE = (1280, 800)
TITLE = "Where attention goes"
SECTION = """
const title = [...document.querySelectorAll('h2')].find(title => title.textContent.trim().startsWith(arguments[0]));
title.scrollIntoView();
"""


def main() -> None:
    """Take both pictures, or say why not."""
    if reason := missing():
        print(f"portrait.png, report-figures.png: skipped, {reason}")
        return
    browser = start()
    if DEMO.is_file():
        open_page(browser, DEMO.absolute().as_uri(), *SIZE)
        time.sleep(1)
        (DOCS / "portrait.png").write_bytes(picture(browser))
    else:
        print(f"portrait.png: skipped, '{DEMO}' is not there; run 'make demo'")
    page = rebuild(RESULT, formats=("svg",))
    open_page(browser, page.absolute().as_uri(), *SIZE)
    time.sleep(1)
    browser.execute_script(SECTION, TITLE)
    time.sleep(2)
    (DOCS / "report-figures.png").write_bytes(picture(browser))
    browser.quit()


if __name__ == "__main__":
    main()

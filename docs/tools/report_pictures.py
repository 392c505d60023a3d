"""The pictures of pages in README and docs, from `make demo` and docs/tools/gallery.py; needs Chromium.

    python docs/tools/report_pictures.py

`docs/portrait.png` is the first screen of the portrait, `docs/report-figures.png` the first figures of a report,
`docs/head-card.png` the first rows of the card of a head.
"""

import time
from pathlib import Path

from chromium import missing, open_page, picture, start

from headscope.report import rebuild
from headscope.report.cards import card, gather
from headscope.report.heads_page import write_card

DOCS, GALLERY, DEMO = Path(__file__).parents[1], Path("out/gallery"), Path("out/demo/index.html")
SIZE, CARD = (1280, 800), (900, 560)
HEAD = (3, 9)
TITLE = "Where attention goes"
SECTION = """
const title = [...document.querySelectorAll('h2')].find(title => title.textContent.trim().startsWith(arguments[0]));
title.style.scrollMarginTop = '6rem';  // below the links, which stay
title.scrollIntoView();
"""


def main() -> None:
    """Take the pictures, or say why not."""
    if reason := missing():
        print(f"portrait.png, report-figures.png, head-card.png: skipped, {reason}")
        return
    browser = start()
    if DEMO.is_file():
        open_page(browser, DEMO.absolute().as_uri(), *SIZE)
        time.sleep(1)
        (DOCS / "portrait.png").write_bytes(picture(browser))
    else:
        print(f"portrait.png: skipped, '{DEMO}' is not there; run 'make demo'")
    page = rebuild(GALLERY / "profile", formats=("svg",))
    open_page(browser, page.absolute().as_uri(), *SIZE)
    time.sleep(1)
    browser.execute_script(SECTION, TITLE)
    time.sleep(2)
    (DOCS / "report-figures.png").write_bytes(picture(browser))
    (own,) = card(gather([GALLERY]), *HEAD)
    open_page(browser, write_card(own, GALLERY).absolute().as_uri(), *CARD)
    time.sleep(1)
    (DOCS / "head-card.png").write_bytes(picture(browser))
    browser.quit()


if __name__ == "__main__":
    main()

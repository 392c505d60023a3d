"""The pictures of pages in README and docs; needs Chromium.

    python docs/tools/report_pictures.py

They are screens of `PAGES`, the first figures of a report (`report-figures.png`) and the first rows of the
card of a head (`head-card.png`), from the results of docs/tools/gallery.py.
"""

import time
from pathlib import Path

from chromium import missing, open_page, picture, start

from headscope.report import rebuild
from headscope.report.cards import card, gather
from headscope.report.heads_page import write_card

DOCS, GALLERY = Path(__file__).parents[1], Path("out/gallery")
SIZE, CARD = (1280, 800), (900, 560)
# By the name of its file, each picture of a screen: the page, what makes it, its size, and its first heading.
PAGES = {
    "portrait.png": ("out/demo/index.html", "make demo", SIZE, ""),
    "film.png": ("out/film/report.html", "the commands of docs/measured/film.md", (1200, 1480), ""),
    "reproduce.png": ("out/clark2019/reproduction.html", "the commands of docs/reproduce.md", (1000, 860), "Table 1"),
}
HEAD = (3, 9)
TITLE = "Where attention goes"
SECTION = """
const titles = [...document.querySelectorAll('h1, h2, h3')];
const title = titles.find(title => title.textContent.trim().startsWith(arguments[0]));
title.style.scrollMarginTop = '6rem';  // below the links, which stay
title.scrollIntoView();
"""


def main() -> None:
    """Take the pictures, or say why not."""
    if reason := missing():
        print(f"{', '.join(PAGES)}, report-figures.png, head-card.png: skipped, {reason}")
        return
    browser = start()
    for name, (path, command, size, heading) in PAGES.items():
        if Path(path).is_file():
            open_page(browser, Path(path).absolute().as_uri(), *size)
            time.sleep(1)
            browser.execute_script(SECTION, heading)
            time.sleep(1)
            (DOCS / name).write_bytes(picture(browser))
        else:
            print(f"{name}: skipped, '{path}' is not there; run {command}")
    if not (GALLERY / "profile" / "result.nc").is_file():
        print(f"report-figures.png, head-card.png: skipped, '{GALLERY}' is not there; run docs/tools/gallery.py")
        return
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

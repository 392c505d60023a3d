"""Pictures of the pages of results, at 1280 and 390 pixels, light and dark; needs Chromium.

python docs/tools/page_pictures.py out/profile out/syntax --to out/pictures

Each page gives four pictures, `STUDY-WIDTH-SCHEME.png`. A line names a page that is wider than its window.
A picture is the first screen, with `--whole` the whole page.
"""

import argparse
import time
from pathlib import Path

from chromium import open_page, picture, start
from selenium.webdriver import Chrome

SIZES = ((1280, 800), (390, 844))
SECONDS = 10  # to wait for charts
READY = "return [...document.querySelectorAll('.chart')].every(each => each.querySelector('.marks, img'))"
WIDEST = """
const width = document.documentElement.scrollWidth;
if (width <= window.innerWidth) return '';
const wide = [...document.querySelectorAll('main *, header *')]
  .filter(each => each.getBoundingClientRect().right > window.innerWidth + 1);
return `${width} px wide: ${wide.slice(0, 5).map(each => `${each.tagName}.${each.className}`)}`;
"""


def take(browser: Chrome, page: Path, folder: Path, *, whole: bool) -> None:
    """Take the four pictures of a page."""
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            open_page(browser, page.absolute().as_uri(), width, height, scheme)
            draw(browser, height, whole=whole)
            name = page.parent.name if page.stem == "report" else f"{page.parent.name}-{page.stem}"
            (folder / f"{name}-{width}-{scheme}.png").write_bytes(picture(browser, whole=whole))
            if wide := browser.execute_script(WIDEST):
                print(f"{page} at {width} px is {wide}", flush=True)


def draw(browser: Chrome, height: int, *, whole: bool) -> None:
    """Wait for the charts; those below the window are drawn once the page is scrolled to them."""
    time.sleep(0.7)
    if not whole:
        return
    for top in range(0, browser.execute_script("return document.documentElement.scrollHeight"), height):
        browser.execute_script("window.scrollTo(0, arguments[0])", top)
        time.sleep(0.1)
    until = time.monotonic() + SECONDS
    while not browser.execute_script(READY) and time.monotonic() < until:
        time.sleep(0.1)
    browser.execute_script("window.scrollTo(0, 0)")
    time.sleep(0.3)


def main() -> None:
    """Take pictures of the pages that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path, help="folders of results, or HTML files")
    parser.add_argument("--to", type=Path, default=Path("out/pictures"), help="folder of the pictures")
    parser.add_argument("--whole", action="store_true", help="the whole page")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    browser = start()
    for page in given.pages:
        take(browser, page if page.suffix == ".html" else page / "report.html", given.to, whole=given.whole)
    browser.quit()


if __name__ == "__main__":
    main()

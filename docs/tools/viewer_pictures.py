"""The pictures of docs/viewer.md and the tour in README, from a viewer of the built-in model; needs Chromium.

    python docs/tools/viewer_pictures.py

Results and examples of heads are kept in out/example.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chromium import missing, open_page, picture, start, tour
from example import RESULTS, measure
from selenium.webdriver import ActionChains, Chrome

from headscope.viewer.view_state import comparing, fragment

DOCS = Path(__file__).parents[1]
READY = "return !document.querySelector('[aria-busy=true]') && !!document.querySelector('.view-place > *')"
WIDE, PHONE, TOUR, COMPARED = (1280, 800), (390, 844), (1180, 760), (1280, 1240)
ACTIVE, PASSIVE = "The cat chased the dog.", "The dog was chased by the cat."
TWO_TEXTS = comparing(fragment({"first": ACTIVE, "against": PASSIVE, "heads": ["3-1"]}))
SECONDS, QUALITY = 1.1, 30  # of a picture of the tour
PANE = 616  # the left edge of the pane that shows the chosen head


@contextmanager
def viewer() -> Iterator[str]:
    """The address of a viewer of the built-in model, while the block runs."""
    command = [sys.executable, "-m", "headscope", "view", "minilm", str(RESULTS), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def still(browser: Chrome, address: str, size: tuple[int, int], scheme: str = "light", **format: Any) -> bytes:
    """The page in a window of a size, once its picture is there."""
    open_page(browser, address, *size, scheme)
    return photo(browser, **format)


def photo(browser: Chrome, **format: Any) -> bytes:
    while not browser.execute_script(READY):
        time.sleep(0.05)
    time.sleep(0.4)
    return picture(browser, **format)


def visited(browser: Chrome, address: str) -> Iterator[tuple[int, bytes]]:
    """Point at tokens, choose heads, look at the heat map, at words, at heads by entropy, and at a card.

    Of a frame in which only the pane of the chosen head has changed there is no more than that.
    """
    webp = {"format": "webp", "quality": QUALITY}
    pane = webp | {"clip": {"x": PANE, "y": 0, "width": TOUR[0] - PANE, "height": TOUR[1], "scale": 1}}
    yield 0, still(browser, address + "#h=3-9&s=0", TOUR, **webp)
    for row in (4, 7, 13, 15):
        point(browser, 60, 22 * row + 11)
        yield PANE, photo(browser, **pane)
    for head in ("2-9", "4-2", "3-1"):
        browser.find_element("css selector", f"[data-head='{head}']").click()
        yield 0, photo(browser, **webp)
    browser.find_element("css selector", "[data-value=map]").click()
    yield PANE, photo(browser, **pane)
    for x, y in ((200, 160), (300, 250), (330, 300)):
        point(browser, x, y)
        yield PANE, photo(browser, **pane)
    yield 0, still(browser, address + "#h=3-1&v=map&s=0&c=entropy&o=entropy", TOUR, **webp)
    yield 0, still(browser, address + "#h=3-1&v=card", TOUR, **webp)


def point(browser: Chrome, x: int, y: int) -> None:
    """Move the pointer over the picture; x and y from its corner."""
    canvas = browser.find_element("css selector", ".scroll-canvas")
    size = canvas.size
    ActionChains(browser).move_to_element_with_offset(canvas, x - size["width"] // 2, y - size["height"] // 2).perform()


def main() -> None:
    """Take the pictures, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=DOCS, help="folder of the pictures")
    given = parser.parse_args()
    if reason := missing():
        print(f"viewer.png, viewer-phone.png, viewer-compare.png, viewer.webp: skipped, {reason}")
        return
    measure()
    browser = start()
    with viewer() as address:
        (given.to / "viewer.png").write_bytes(still(browser, address + "#h=3-9", WIDE))
        (given.to / "viewer-phone.png").write_bytes(still(browser, address + "#h=3-9&g=0&s=0&p=q13", PHONE, "dark"))
        (given.to / "viewer-compare.png").write_bytes(still(browser, f"{address}#{TWO_TEXTS}", COMPARED))
        frames = list(visited(browser, address))
        (given.to / "viewer.webp").write_bytes(tour(frames, *TOUR, SECONDS))
    browser.quit()


if __name__ == "__main__":
    main()

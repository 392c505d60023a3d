"""The pictures of docs/viewer.md, from a running viewer; needs Chromium and Pillow.

headscope view minilm out/view --with FURTHER_TRAINED --no-browser --port 8451
python docs/tools/viewer_pictures.py http://127.0.0.1:8451/ docs
"""

import io
import sys
import time
from pathlib import Path

from chromium import open_page, picture, start
from PIL import Image
from selenium.webdriver import ActionChains, Chrome

READY = "return !document.querySelector('[aria-busy=true]') && !!document.querySelector('.view-place > *')"
SECONDS = 1.1  # a picture of the tour


def main(address: str, folder: Path) -> None:
    browser = start()
    still(browser, address + "#h=3-9", 1280, 800).save(folder / "viewer.png", optimize=True)
    phone = still(browser, address + "#h=3-9&g=0&s=0&p=q13", 390, 844, "dark")
    phone.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(folder / "viewer-phone.png", optimize=True)
    compared = still(browser, address + "#h=3-9&v=compare&g=0&w=words", 1280, 800)
    compared.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(folder / "viewer-compare.png", optimize=True)
    frames = list(tour(browser, address))
    duration = int(1000 * SECONDS)
    frames[0].save(
        folder / "viewer.webp", save_all=True, append_images=frames[1:], duration=duration, loop=0, quality=70, method=6
    )
    browser.quit()


def still(browser: Chrome, address: str, width: int, height: int, scheme: str = "light") -> Image.Image:
    """The page in a window of a size, once its picture is there."""
    open_page(browser, address, width, height, scheme)
    return photo(browser)


def photo(browser: Chrome) -> Image.Image:
    while not browser.execute_script(READY):
        time.sleep(0.05)
    time.sleep(0.4)
    return Image.open(io.BytesIO(picture(browser))).convert("RGB")


def tour(browser: Chrome, address: str):
    """Point at tokens, choose heads, look at the heat map, at words, and at heads by entropy."""
    yield still(browser, address + "#h=3-9&s=0", 1180, 760)
    for place in (4, 7, 13, 15):
        point(browser, 60, 22 * place + 11)
        yield photo(browser)
    for head in ("2-9", "4-2", "3-1"):
        browser.find_element("css selector", f"[data-head='{head}']").click()
        yield photo(browser)
    browser.find_element("css selector", "[data-value=map]").click()
    yield photo(browser)
    for x, y in ((200, 160), (300, 250), (330, 300)):
        point(browser, x, y)
        yield photo(browser)
    yield still(browser, address + "#h=3-1&v=map&s=0&c=entropy&o=entropy", 1180, 760)
    yield still(browser, address + "#h=3-1&v=card", 1180, 760)


def point(browser: Chrome, x: int, y: int) -> None:
    """Move the pointer over the picture; x and y from its corner."""
    canvas = browser.find_element("css selector", ".scroll-canvas")
    size = canvas.size
    ActionChains(browser).move_to_element_with_offset(canvas, x - size["width"] // 2, y - size["height"] // 2).perform()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

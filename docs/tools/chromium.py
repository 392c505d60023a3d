"""A browser without a window, pictures of its pages, and a tour of several as one picture."""

import json
import re
import shutil
import struct
import zlib
from base64 import b64decode
from collections.abc import Sequence
from html import unescape
from typing import Any

from selenium import webdriver
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.service import Service


def missing() -> str:
    """Why no browser can be started, or nothing."""
    lacking = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"{' and '.join(lacking)} not found; install Chromium and its driver" if lacking else ""


def start() -> Chrome:
    """Start Chromium."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    return Chrome(options=options, service=Service(shutil.which("chromedriver")))


def open_page(browser: Chrome, address: str, width: int, height: int, scheme: str = "light") -> None:
    """Open a page in a window of a size, in the colour scheme light or dark."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.get("about:blank")
    browser.get(address)


# What is written in the window: controls and headings of tables by themselves, and all lines of text.
WRITTEN = """
const seen = (element) => {
  const { top, bottom, height } = element.getBoundingClientRect();
  return height && top < innerHeight && bottom > 0;
};
const written = (choice) => [...document.querySelectorAll(choice)].filter(seen)
  .map((each) => each.innerText.split('\\n')[0].trim()).filter(Boolean);
return { labels: written('nav a, [role=tab], th, button, summary, label'), lines: written('p, h1, h2, figcaption') };
"""
KEY, END = b"headscope", 12  # bytes of the last chunk of a PNG


def picture(browser: Chrome, *, whole: bool = False, **format: Any) -> bytes:
    """A PNG of what is seen, or of the whole page, with its words; or another `format`, by its name and quality."""
    clip = {}
    if whole:
        size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"clip": size | {"scale": 1}}
    answer = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole, **clip, **format})
    taken = b64decode(answer["data"])
    return taken if format else with_words(taken, browser.execute_script(WRITTEN))


def with_words(png: bytes, words: dict[str, list[str]]) -> bytes:
    """A PNG that also holds the words that are seen in it (https://www.w3.org/TR/png/#11tEXt)."""
    content = b"tEXt" + KEY + b"\0" + json.dumps(words).encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    return png[:-END] + chunk + png[-END:]


def words_of(png: bytes) -> dict[str, list[str]]:
    """The words of `with_words`; none of another PNG."""
    at = png.find(b"tEXt" + KEY)
    if at < 0:
        return {"labels": [], "lines": []}
    (size,) = struct.unpack_from(">I", png, at - 4)
    return json.loads(png[at + 4 + len(KEY) + 1 : at + 4 + size])


def labels_of(svg: str) -> list[str]:
    """The titles and the labels of legends of a chart."""
    groups = re.findall(
        r'mark-text role-(?:title-text|axis-title|legend-title|legend-label)"[^>]*>(.*?)</g>', svg, re.DOTALL
    )
    return [unescape(text).strip() for group in groups for text in re.findall(">([^<]+)<", group)]


def tour(frames: Sequence[tuple[int, bytes]], width: int, height: int, seconds: float) -> bytes:
    """Pictures in the format webp as one, each of which is seen for some seconds, again and again.

    A frame is the left edge of what has changed, an even number, and a picture from there to the right edge.
    The container is that of https://developers.google.com/speed/webp/docs/riff_container.
    """
    header = _chunk(b"VP8X", struct.pack("<I", ANIMATED) + _three(width - 1) + _three(height - 1))
    header += _chunk(b"ANIM", bytes(6))
    duration = _three(round(1000 * seconds)) + bytes(1)
    content = b"".join(
        _chunk(
            b"ANMF", _three(x // 2) + _three(0) + _three(width - x - 1) + _three(height - 1) + duration + _bitmap(frame)
        )
        for x, frame in frames
    )
    return _chunk(b"RIFF", b"WEBP" + header + content)


ANIMATED = 0x02


def _bitmap(frame: bytes) -> bytes:
    """The chunks of a picture that have its pixels."""
    at, kept = 12, b""
    while at < len(frame):
        name, size = struct.unpack_from("<4sI", frame, at)
        end = at + 8 + size + size % 2
        kept += frame[at:end] if name in (b"ALPH", b"VP8 ", b"VP8L") else b""
        at = end
    return kept


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")

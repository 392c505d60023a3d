"""A browser without a window, and pictures of its pages."""

import shutil
from base64 import b64decode

from selenium import webdriver
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.service import Service


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


def picture(browser: Chrome, *, whole: bool = False) -> bytes:
    """A PNG of what is seen, or of the whole page."""
    clip = {}
    if whole:
        size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"clip": size | {"scale": 1}}
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole, **clip})
    return b64decode(taken["data"])

"""Pages in Chromium: opened in a window of a width and a colour scheme, and what they ask for."""

from importlib.resources import files
from typing import Any

from selenium.webdriver import Chrome

# Those of the page and of all that it asks for, also where no answer comes.
ASKED = "return performance.getEntries().filter((entry) => 'initiatorType' in entry).map((entry) => entry.name)"
# The violations that axe-core finds, with the elements.
AXE = """const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations'], selectors: false}).then((found) => done(found.violations.map(
    (each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`)));"""


def shape(browser: Chrome, width: int, height: int = 900, scheme: str = "light") -> None:
    """Give the window a size and a colour scheme; a narrow one is a phone's."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


def open_page(browser: Chrome, address: str, width: int = 1280, **window: Any) -> Chrome:
    """Open a page in a window; earlier lines of the console are dropped."""
    shape(browser, width, **window)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(address)
    return browser


def requests_of(browser: Chrome) -> list[str]:
    """The addresses that the page asked for, its own the first."""
    return browser.execute_script(ASKED)


def violations(browser: Chrome) -> list[str]:
    """What axe-core finds in the page."""
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    browser.set_script_timeout(60)
    return browser.execute_async_script(AXE)

"""The viewer's page: served on this machine, and looked at in Chromium."""

import time
from contextlib import AbstractContextManager
from urllib.parse import urlencode

from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from headscope import models, read
from headscope.viewer.example_index import example_index
from headscope.viewer.server import application
from headscope.viewer.session import ViewSession
from support.browsing import open_page
from support.made_heads import model_of
from support.profile_result import profile_result
from support.served import served_app
from support.tiny import tiny_bert, tiny_tokenizer

READY = """return !document.querySelector('[aria-busy=true]') && !!document.querySelector('.view-place > *')"""
FIRST, SECOND = "The old cat slept.", "It was not small."


def session_of(*, seeds: tuple[int, ...] = (0,), max_tokens: int = 64) -> ViewSession:
    """Tiny models of 3 layers with 4 heads, numbers of their heads, and a corpus of three texts with its index."""
    names = ("first", "second")
    networks = [tiny_bert(seed, max_position_embeddings=max_tokens) for seed in seeds]
    made = [models.wrap(network, tiny_tokenizer(max_tokens), names[at]) for at, network in enumerate(networks)]
    corpus = read([FIRST, "A bird sat on the door.", "The river was very old."])
    index = example_index(made[0], corpus)
    return ViewSession(tuple(made), (corpus,), (model_of(profile_result(3, 4)),), index)


def served(session: ViewSession) -> AbstractContextManager[str]:
    """The address of the page while the block runs."""
    return served_app(application(session))


def opened(
    browser: Chrome, address: str, state: dict[str, str] | None = None, *, width: int = 1280, scheme: str = "light"
) -> None:
    """Open a state of the page in a window of a width; earlier lines of the console are dropped."""
    open_page(browser, f"{address}#{urlencode(state or {})}", width, height=800, scheme=scheme)
    settled(browser)


def followed(browser: Chrome, state: dict[str, str] | str) -> None:
    """Follow a link to another state in the page that is open."""
    link = "const [to, done] = arguments; addEventListener('hashchange', () => setTimeout(done), {once: true});"
    fragment = state if isinstance(state, str) else urlencode(state)
    browser.execute_async_script(f"{link} location.hash = to", fragment)
    settled(browser)


def settled(browser: Chrome) -> None:
    """Wait until nothing is read any more and two frames are drawn."""
    WebDriverWait(browser, 20, 0.05).until(lambda window: window.execute_script(READY))
    frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)))"
    browser.execute_async_script(frames)


def state(browser: Chrome) -> str:
    """The state in the address, once it rests."""
    time.sleep(0.3)
    return str(browser.execute_script("return decodeURIComponent(location.hash.slice(1))"))


def picture(browser: Chrome) -> str:
    """The picture of the chosen head as bytes in base64."""
    settled(browser)
    return str(browser.execute_script("return document.querySelector('.view-place canvas').toDataURL()"))

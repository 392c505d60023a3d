"""Keep transformers from printing and from failing in its own words: headscope reports in its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from transformers.utils import logging

from headscope.errors import HeadscopeError


@contextmanager
def quiet() -> Iterator[None]:
    """Within this context transformers logs errors only, and shows no progress bars."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def refusing(what: str, remedy: str) -> Iterator[None]:
    """Within this context any error becomes a `HeadscopeError` of one line.

    transformers, tokenizers and safetensors raise anything here, down to bare Exception.
    """
    try:
        yield
    except Exception as error:
        words = str(error).strip() or type(error).__name__
        raise HeadscopeError(f"{what} ({shorten(words, 240, placeholder=' ...')}); {remedy}") from error

"""Keep transformers from printing and from failing in its own words: headscope reports in its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR, getLogger
from textwrap import shorten

from transformers.utils import logging

from headscope.capture.missing_imports import missing_import
from headscope.errors import HeadscopeError, names_full_memory


@contextmanager
def quiet() -> Iterator[None]:
    """Within this context transformers and accelerate log errors only, and show no progress bars."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    accelerate = getLogger("accelerate")
    level_of_accelerate = accelerate.level
    accelerate.setLevel(ERROR)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        accelerate.setLevel(level_of_accelerate)
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def refusing(what: str, remedy: str) -> Iterator[None]:
    """Within this context any other error becomes a `HeadscopeError` of one line, except that memory is used up.

    transformers, tokenizers and safetensors raise anything here, down to bare Exception. Where an import failed, the
    line has its own remedy in the place of `remedy`.
    """
    try:
        yield
    except HeadscopeError:
        raise
    except BaseException as error:
        panic = type(error).__name__ == "PanicException"  # of tokenizers and safetensors, and no Exception
        if not (panic or isinstance(error, Exception)) or names_full_memory(error):
            raise
        words = str(error).strip() or type(error).__name__
        words, remedy = missing_import(error) or (words, remedy)
        raise HeadscopeError(f"{what} ({shorten(words, 240, placeholder=' ...')}); {remedy}") from error

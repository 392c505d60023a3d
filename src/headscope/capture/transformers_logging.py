"""Keep transformers from printing and from failing in its own words: headscope reports in its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR, getLogger
from textwrap import shorten

import transformers
from transformers.utils import logging

from headscope.errors import HeadscopeError, names_full_memory

# Modules that transformers no longer has, and the last release with them.
LAST_RELEASE = {"transformers.modeling_attn_mask_utils": "5.23.0"}


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


def missing_import(error: BaseException) -> tuple[str, str] | None:
    """The failed import behind an error, and the remedy; None for any other error.

    >>> missing_import(ModuleNotFoundError("No module named 'einops'", name="einops"))
    ("No module named 'einops'", "install the package that has 'einops'")
    """
    failed = next((cause for cause in _causes(error) if isinstance(cause, ImportError)), None)
    return failed and (str(failed), _remedy(failed.name or ""))


def _remedy(module: str) -> str:
    if release := LAST_RELEASE.get(module):
        return f"transformers {transformers.__version__} no longer has it: install transformers=={release}"
    if module.partition(".")[0] == "transformers":
        return (
            f"the model's code was written for another release than transformers {transformers.__version__}: "
            "install a release that has it, or download newer code of the model"
        )
    return f"install the package that has '{module}'" if module else "install what is missing"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

"""Imports that fail in the code of a model: what is missing, and the release of transformers that has it."""

from collections.abc import Iterator

import transformers

# Modules that transformers no longer has, and the last release with them.
LAST_RELEASE = {"transformers.modeling_attn_mask_utils": "5.23.0"}


def missing_import(error: BaseException) -> tuple[str, str] | None:
    """The words of the import that failed behind an error, and the remedy; None for any other error.

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

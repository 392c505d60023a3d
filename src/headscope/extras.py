"""Packages of the optional extras, imported when they are first used."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from headscope.errors import HeadscopeError

# Of each package that is not in the base installation: its need, the package's name for pip, and the extra.
NEEDS = {
    "accelerate": ("training, and a model on several devices, need", "accelerate", "train"),
    "anywidget": ("widgets in a notebook need", "anywidget", "notebook"),
    "datasets": ("data sets of the hub need", "datasets", "hub"),
    "onnx": ("ONNX files need", "onnx", "onnx"),
    "onnxruntime": ("ONNX files need", "onnxruntime", "onnx"),
    "onnxscript": ("ONNX files need", "onnxscript", "onnx"),
    "peft": ("adapters need", "peft", "adapters"),
    "ray": ("--engine ray needs", "ray", "ray"),
    "spacy": ("annotation needs", "spacy", "annotate"),
    "starlette": ("local pages need", "starlette", "view"),
    "uvicorn": ("local pages need", "uvicorn", "view"),
    "vl_convert": ("figures need", "vl-convert", "figures"),
}


def require(module: str) -> Any:
    """Import a package of an extra, one of `NEEDS`.

    Raises `HeadscopeError`, which names the extra, if the package is not installed.
    """
    if line := missing(module):
        raise HeadscopeError(line)
    return import_module(module)


def missing(module: str) -> str:
    """One line that says how to install a package of an extra; empty if it is installed, which imports nothing.

    >>> missing("vl_convert")
    ''
    """
    if find_spec(module):
        return ""
    need, package, extra = NEEDS[module]
    return f"{need} {package}: pip install 'headscope[{extra}]'"

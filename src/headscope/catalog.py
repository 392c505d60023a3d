"""The catalog of studies, measures, corpus readers and figures, and of the packages of extras; imported on use."""

import ast
import importlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from headscope.errors import HeadscopeError, suggest
from headscope.study import Study

ROOT = Path(__file__).parent
# What studies are about, which are folders of `studies`, with a question for each.
QUESTIONS = {
    "heads": "Heads: what does each head do?",
    "layers": "Layers: what do the states of each layer hold?",
    "words": "Words: which words matter, and which does the model prefer?",
    "training": "Training: what did it change?",
    "size": "Size: which heads does a task need?",
}
# Of each package that is not in the base installation: its need, the package's name for pip, and the extra.
NEEDS = {
    "accelerate": ("training, and a model on several devices, need", "accelerate", "train"),
    "anywidget": ("widgets in a notebook need", "anywidget", "notebook"),
    "datasets": ("data sets of the hub need", "datasets", "hub"),
    "gguf": ("GGUF files need", "gguf", "gguf"),
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
SPACE = 80e9  # bytes of addresses (`ulimit -v`): its engine reserves 69 GB, and ends the process where it cannot


def names(folder: str) -> list[str]:
    """The modules of a folder of the package, and its studies, in alphabetical order.

    Those with a leading underscore are left out.

    >>> "profile" in names("studies")
    True
    """
    return list(_names(ROOT / folder))


@cache
def _names(folder: Path) -> tuple[str, ...]:
    """The modules and studies of a folder, which is read once."""
    files = folder.glob("*/*/study.py") if folder.name == "studies" else folder.glob("*.py")
    named = [file.parent.name if file.name == "study.py" else file.stem for file in files]
    return tuple(sorted(name for name in named if not name.startswith("_")))


def study_folder(name: str) -> Path:
    """The folder of a study, in that of what it is about.

    >>> study_folder("lens").parent.name
    'layers'
    """
    return _study_folders(ROOT / "studies").get(name, ROOT / "studies" / name)


@cache
def _study_folders(studies: Path) -> dict[str, Path]:
    """The folder of each study, `_template` too; looked for once."""
    return {file.parent.name: file.parent for file in studies.glob("**/study.py")}


def module_of(file: Path) -> str:
    """The name of the module of a file of the package.

    >>> module_of(study_folder("lens") / "page.py")
    'headscope.studies.layers.lens.page'
    """
    return ".".join(("headscope", *file.relative_to(ROOT).with_suffix("").parts))


def studies_by_question() -> dict[str, list[str]]:
    """The names of the studies by the question that they answer, in the order of `QUESTIONS`.

    >>> studies_by_question()[QUESTIONS["size"]]
    ['ablate', 'kv', 'prune', 'shrink']
    """
    about = {name: study_folder(name).parent.name for name in names("studies")}
    return {title: [name for name in about if about[name] == topic] for topic, title in QUESTIONS.items()}


def installed_measures() -> EntryPoints:
    """The measures that installed packages bring: entry points of the group `headscope.measures`, not imported.

    Raises `HeadscopeError` if those of a package cannot be read.
    """
    try:
        return entry_points(group="headscope.measures")
    except Exception as error:  # whatever a damaged file of a package brings about
        line = " ".join(str(error).split())
        raise HeadscopeError(
            f"the entry points of an installed package cannot be read ({line}); install it again"
        ) from error


def command_name(name: str) -> str:
    """The name of a study or a verb on the command line.

    >>> command_name("pretrain_head")
    'pretrain-head'
    """
    return name.replace("_", "-")


def summary(folder: str, name: str) -> str:
    """The first line of a module's docstring, read without importing it.

    >>> summary("measures", "entropy")
    'Entropy of the attention of a token, in nats.'
    """
    file = study_folder(name) / "__init__.py" if folder == "studies" else ROOT / folder / f"{name}.py"
    return (ast.get_docstring(parsed(file)) or "").partition("\n")[0]


@cache
def study(name: str) -> Study:
    """What a study declares of itself, which needs no torch.

    >>> study("lens").required
    ('final_first',)
    """
    return importlib.import_module(module_of(study_folder(name))).STUDY


def constant(folder: str, name: str, constant: str) -> Any:
    """The value of a literal constant of a module, read without importing it; None if it has none.

    >>> constant("corpora/suites/readers", "facts", "SUITES") is None
    False
    """
    for part in parsed(ROOT / folder / f"{name}.py").body:
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == constant:
            return ast.literal_eval(part.value)
    return None


def listed(folder: str, name: str) -> dict[str, str]:
    """The module of each entry that a literal constant of the modules of a folder lists, by entry, in their order.

    >>> listed("corpora/suites/readers", "SUITES")["lama"]
    'facts'
    """
    return dict(sorted((entry, module) for module in names(folder) for entry in constant(folder, module, name) or ()))


@cache
def parsed(file: Path) -> ast.Module:
    """The code of a file; it is read once."""
    return ast.parse(file.read_text(encoding="utf-8"))


def load(folder: str, name: str) -> ModuleType:
    """Import one module of a folder, or a study.

    Raises `HeadscopeError` with near-miss names if there is none of that name.
    """
    file = study_folder(name) / "study.py" if folder == "studies" else ROOT / folder / f"{name}.py"
    if not file.is_file():
        raise HeadscopeError(f"{folder}: no '{name}'; {suggest(name, names(folder))}")
    return importlib.import_module(module_of(file))


def require(module: str) -> Any:
    """Import a package of an extra, one of `NEEDS`.

    Raises `HeadscopeError`, which names the extra, if the package is not installed.
    """
    if line := missing(module):
        raise HeadscopeError(line)
    return importlib.import_module(module)


def missing(module: str) -> str:
    """One line that says how to get a package of an extra to run; empty if it does. Nothing is imported.

    >>> missing("vl_convert")
    ''
    """
    need, package, extra = NEEDS[module]
    if find_spec(module):
        if module == "vl_convert" and find_spec("resource"):  # Windows has no limits
            limits: Any = importlib.import_module("resource")
            if 0 <= limits.getrlimit(limits.RLIMIT_AS)[0] < SPACE:
                return f"{need} {SPACE / 1e9:.0f} GB of address space; raise its limit: ulimit -v unlimited"
        return ""
    # An environment of uv has no pip. Both take the extra of the headscope that is installed there, published or not.
    installer = f"'{sys.executable}' -m pip install" if find_spec("pip") else f"uv pip install -p '{sys.executable}'"
    return f"{need} {package}: {installer} 'headscope[{extra}]'"


def require_for(name: str, options: Mapping[str, Any]) -> None:
    """Raise `HeadscopeError` if an option of a study needs a package that is not installed; it imports none.

    Called before a model is loaded: a search of hours does not end with a missing package.
    """
    for package, option in {**study(name).packages, "ray": "engine=ray"}.items():
        key, _, word = option.partition("=")
        value = options.get(key, not key)
        if (word in str(value).split(",") if word else value) and (line := missing(package)):
            raise HeadscopeError(line)

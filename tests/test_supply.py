"""Nothing that is read can run code: no call that unpickles or evaluates, and evil files that stay without effect."""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from headscope import HeadscopeError, load, open_result, read
from headscope.catalog import ROOT
from headscope.studies.heads.patterns import classifier, labelled_maps
from headscope.studies.heads.probe.word_vectors import read_vectors
from support.evil import evil
from support.tiny import save_tiny

MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
CALLS = {"eval", "exec", "compile", "__import__"}
LOADS = {"torch.load", "numpy.load", "np.load", "pandas.read_pickle", "pd.read_pickle"}
WORDS = re.compile(rf"\b(?:{'|'.join(sorted(MODULES | CALLS))}|yaml|load|read_pickle)\b")
LOCK = Path(__file__).parents[1] / "constraints.txt"
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))


def unsafe(path: Path) -> Iterator[str]:
    """The names in a module that could run what a file holds; one without any of the words is not parsed."""
    text = path.read_text(encoding="utf-8")
    for part in ast.walk(ast.parse(text)) if WORDS.search(text) else ():
        if isinstance(part, ast.Import):
            yield from MODULES & {alias.name.partition(".")[0] for alias in part.names}
        elif isinstance(part, ast.ImportFrom):
            yield from (MODULES | {"yaml"}) & {str(part.module).partition(".")[0]}
        elif isinstance(part, ast.Call):
            name = ast.unparse(part.func)
            safe = any(
                keyword.arg == "allow_pickle" and ast.unparse(keyword.value) == "False" for keyword in part.keywords
            )
            of_yaml = name.startswith("yaml.") and name != "yaml.safe_load"
            if name in CALLS or of_yaml or (name in LOADS and not safe):
                yield name


@pytest.mark.always
def test_no_module_unpickles_or_evaluates(tmp_path: Path) -> None:
    found = {(str(path.relative_to(ROOT)), name) for path in ROOT.rglob("*.py") for name in unsafe(path)}
    assert not found
    (tmp_path / "bad.py").write_text(
        "import pickle, yaml\nfrom joblib import load\ntorch.load('x')\neval('1')\nm.eval()\nyaml.load('a')\n"
        "from yaml import full_load\nyaml.safe_load('a')\n"
    )
    assert sorted(unsafe(tmp_path / "bad.py")) == ["eval", "joblib", "pickle", "torch.load", "yaml", "yaml.load"]


def model(folder: Path, content: bytes) -> object:
    """Load a model whose weights are a pickle, named in the three usual ways."""
    save_tiny(folder)
    (folder / "model.safetensors").unlink()
    for name in ("pytorch_model.bin", "model.pt", "training_args.bin"):
        (folder / name).write_bytes(content)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "pytorch_model.bin"}}')
    return load(str(folder))


def maps(folder: Path, content: bytes) -> object:
    """Read labelled maps whose archive holds an object."""
    with ZipFile(folder / "maps.npz", "w") as archive, archive.open("1.npy", "w") as array:
        np.lib.format.write_array_header_1_0(array, {"descr": "|O", "fortran_order": False, "shape": (1,)})
        array.write(content)
    (folder / "labels.jsonl").write_text('{"id": 1, "label": "block", "tokens": []}\n')
    return labelled_maps.read(folder)


def file(name: str, take: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
    """Read a file that is a pickle."""

    def write_and_read(folder: Path, content: bytes) -> object:
        (folder / name).write_bytes(content)
        return take(folder / name)

    return write_and_read


@pytest.mark.parametrize(
    "take",
    [
        model,
        maps,
        file("result.nc", open_result),
        file("weights.pt", classifier.load),
        file("vectors.bin", lambda path: read_vectors(str(path), ["a"])),
        file("corpus.pkl", read),
        file("corpus.parquet", read),
    ],
)
def test_an_evil_pickle_does_nothing(take: Callable[[Path, bytes], object], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(HeadscopeError):
        take(folder, evil(tmp_path / "ran"))
    assert not (tmp_path / "ran").exists()


def test_the_lock_names_the_version_of_each_installed_dependency() -> None:
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", LOCK.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name: version(name).partition("+")[0] for name in ("torch", "numpy", "transformers", "xarray")}.items() <= (
        pins.items()
    )


def test_the_lock_pins_each_requirement_of_the_project() -> None:
    pins = set(re.findall(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE))
    tables = PROJECT["project"]["optional-dependencies"] | PROJECT["dependency-groups"]
    lines = [*PROJECT["project"]["dependencies"], *(line for lines in tables.values() for line in lines)]
    named = {canonicalize_name(Requirement(line).name) for line in lines if isinstance(line, str)}
    assert named - {"headscope"} <= {canonicalize_name(name) for name in pins}


def test_what_development_needs_is_not_published() -> None:
    assert {"dev", "docs"} <= set(PROJECT["dependency-groups"])
    assert not {"dev", "docs", "test"} & set(PROJECT["project"]["optional-dependencies"])


def test_commands_of_the_makefile_import_from_the_folders_of_tests() -> None:
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    folders = ":".join(PROJECT["tool"]["pytest"]["ini_options"]["pythonpath"])
    assert set(re.findall(r"PYTHONPATH=(\S+)", makefile)) == {folders}

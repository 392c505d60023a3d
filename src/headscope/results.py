"""Labelled results: the words of a result, its check, and saving it as netCDF.

A result is an `xarray.Dataset`. Its dimensions are only those of `DIMENSIONS`; layers and heads
count from 1, as in the papers. A mean `x` has its 95% bootstrap interval in `x_ci` (extra dimension
`bound`) and the number of examples it is a mean of in `x_n_examples`.
"""

import os
import tempfile
from pathlib import Path

import h5py
import xarray as xr

from headscope.errors import HeadscopeError

BOUNDS = ("lower", "upper")
TOKEN_CLASSES = ("cls", "sep", "punct", "other")
OFFSETS = (-1, 0, 1)
FEATURES = ("noun", "verb", "pron", "subj", "obj", "neg", "cls", "sep", "punct")
PATTERNS = ("vertical", "diagonal", "vertical_diagonal", "block", "heterogeneous")
# A head is called special only where it beats its baseline by so much, in so many cases, at this rate of errors.
GAIN, LEAST_CASES, RATE = 0.1, 50, 0.05
DIRECTIONS = ("dependent_to_head", "head_to_dependent")
RELATIONS = ("verb_to_subject", "subject_to_verb", "pronoun_to_noun", "noun_to_pronoun")

DIMENSIONS = {
    "layer": "layer of the model, from 1 at the input",
    "head": "attention head within its layer, from 1",
    "example": "example of the corpus",
    "token_class": "class of a token: cls, sep, punct ('.' and ','), other",
    "offset": "distance from the query to the key, in tokens",
    "feature": "linguistic feature of a token",
    "relation": "kind of link between two words",
    "direction": "which of the two words looks at the other",
    "pattern": "class of an attention map",
    "task": "task of a benchmark",
    "init": "how the model was initialised",
    "metric": "score of a task",
    "model": "model that is compared with the first",
    "restored": "number of lower layers with the weights of the first model",
    "seed": "seed of a training",
    "epoch": "pass over the training examples, from 1",
    "progress": "share of a training that is done",
    "share_removed": "share of the model's heads that is removed",
    "mention_type": "kind of mention",
    "baseline": "simple way to choose that heads are compared with",
    "gender": "gender of a pronoun",
    "stereotype": "whether a pronoun has the gender that is expected of an occupation",
    "query": "token that looks",
    "query_group": "class of the tokens that look: sep, cls",
    "key": "token that is looked at",
    "other_layer": "layer of the second head of a pair",
    "other_head": "second head of a pair",
    "probe": "parser that is scored",
    "axis": "axis of an embedding",
    "head_set": "heads that are disabled together",
    "half": "half of the examples on which a head was chosen",
    "estimator": "how the importance of a head is estimated",
    "bound": "bound of a 95% interval",
}

ATTRIBUTES = (
    "study",
    "headscope_version",
    "model",
    "model_sha256",
    "corpus",
    "corpus_sha256",
    "n_examples",
    "n_tokens",
)


def means(result: xr.Dataset) -> list[str]:
    """The variables that are not the interval or the count of another, nor maps, in their order."""
    beside = ("_ci", "_n_examples")
    return [str(name) for name, array in result.items() if not str(name).endswith(beside) and "query" not in array.dims]


def check(result: xr.Dataset) -> xr.Dataset:
    """The result itself, once its words are known to be those of the vocabulary.

    Raises `ValueError` where a dimension is unknown, a variable has no `long_name`, `units` or
    `source`, or an attribute of `ATTRIBUTES` is missing.
    """
    if unknown := set(map(str, result.dims)) - set(DIMENSIONS):
        raise ValueError(f"result: dimensions {sorted(unknown)} are not in the vocabulary {sorted(DIMENSIONS)}")
    if missing := [name for name in ATTRIBUTES if name not in result.attrs]:
        raise ValueError(f"result: attributes {missing} are missing")
    for name, variable in result.data_vars.items():
        if missing := {"long_name", "units", "source"} - set(variable.attrs):
            raise ValueError(f"result: variable '{name}' lacks {sorted(missing)}")
    return result


def save(result: xr.Dataset, directory: str | Path) -> Path:
    """Write `directory/result.nc`, whole or not at all.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    path = Path(directory) / "result.nc"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".result-") as scratch:
            check(result).to_netcdf(Path(scratch) / path.name, engine="h5netcdf")
            os.replace(Path(scratch) / path.name, path)
    except OSError as error:
        raise HeadscopeError(
            f"result '{path}' cannot be written: {error.strerror or error}; choose another folder with -o"
        ) from error
    return path


def read(directory: str | Path) -> xr.Dataset:
    """Read the result of a folder (or a `.nc` file) into memory.

    Raises `HeadscopeError` if there is none, or if it is not a result of headscope.
    """
    path = Path(directory)
    path = path / "result.nc" if path.is_dir() else path
    if not path.is_file():
        raise HeadscopeError(f"result '{path}' does not exist; name a folder that a study wrote with -o")
    try:
        with h5py.File(path) as file:  # h5netcdf would complain once more, when it throws away what it cannot read
            file.visit(lambda name: None)
        with xr.open_dataset(path, engine="h5netcdf") as stored:
            return check(stored.load())
    except (OSError, ValueError, KeyError, RuntimeError) as error:  # h5py raises the last two for damaged parts
        said = f"is not a result of headscope: {' '.join(str(error).split())}"
        raise HeadscopeError(f"result '{path}' {said}; make it again, or leave it out") from error

"""The results of some folders, those of one model together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.cards.head_numbers import FIRST, Row, numbers, rows
from headscope.report.cards.main_numbers import main_numbers
from headscope.report.layer_numbers import layer_numbers
from headscope.report.parts import LayerNumber
from headscope.report.study_page import StudyPage, study_page
from headscope.statistics.significance import LEAST_CASES
from headscope.storage.files import files_within, opening


@dataclass(frozen=True)
class Source:
    """A saved result and where it is; what is made of its numbers is made once."""

    path: Path
    result: xr.Dataset

    @property
    def name(self) -> str:
        """Its study and corpus, in words."""
        return f"{self.result.attrs['study']} on {self.result.attrs['corpus']}"

    @cached_property
    def page(self) -> StudyPage:
        """The parts of its page."""
        return study_page(self.result)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """All its numbers of heads. See `numbers`."""
        return numbers(self.result)

    @cached_property
    def main_numbers(self) -> list[tuple[str, xr.DataArray]]:
        """Its main numbers. See `main_numbers`."""
        return main_numbers(self.result, self.numbers.assign(source=0))


@dataclass(frozen=True)
class MeasuredModel:
    """A model, known by the hash of its weights, its names in results, and the results that are about it."""

    names: tuple[str, ...]
    sha256: str
    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        """The shortest of its names."""
        return min(self.names, key=len)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """All numbers of its heads; `source` says which of the results each is from. See `numbers`."""
        frames = [source.numbers.assign(source=index) for index, source in enumerate(self.sources)]
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def main_numbers(self) -> list[tuple[str, xr.DataArray]]:
        """The main numbers of each result; the second of a name has the name of its result too. See `main_numbers`."""
        arrays: list[tuple[str, xr.DataArray]] = []
        for source in self.sources:
            for name, array in source.main_numbers:
                again = name in [other for other, _ in arrays]
                arrays.append((f"{name} ({source.name})" if again else name, array))
        return arrays

    @cached_property
    def rows(self) -> dict[tuple[int, int], dict[int, list[Row]]]:
        """The same numbers as rows, by head and by the place of the result."""
        by_head: dict[tuple[int, int], dict[int, list[Row]]] = {head: {} for head in self.heads}
        for row in rows(self.numbers):
            by_head[row.layer, row.head].setdefault(row.source, []).append(row)
        return by_head

    @cached_property
    def first_on_average(self) -> float:
        """The mean over heads of the numbers, with enough cases, in which a head is among the first."""
        numbers = self.numbers
        first = (numbers["rank"] <= FIRST) & (numbers["value"] > numbers["median"]) & ~(numbers["n"] < LEAST_CASES)
        return int(np.count_nonzero(first)) / max(1, len(self.heads))

    @cached_property
    def layers(self) -> list[LayerNumber]:
        """All numbers of its layers."""
        return layer_numbers([source.result for source in self.sources])

    @cached_property
    def heads(self) -> list[tuple[int, int]]:
        """The heads of which any result has a number, in their order."""
        return sorted(set(zip(self.numbers["layer"].tolist(), self.numbers["head"].tolist(), strict=True)))


def gather(folders: Sequence[str | Path]) -> list[MeasuredModel]:
    """The models of `gather_all` of whose heads there is a number."""
    return [model for model in gather_all(folders) if len(model.numbers)]


def gather_all(folders: Sequence[str | Path]) -> list[MeasuredModel]:
    """The models that the results in these folders, or in folders within them, are about. See `read_all`."""
    return models_in(read_all(folders))


@opening()
def read_all(folders: Sequence[str | Path]) -> dict[Path, xr.Dataset]:
    """Read the results in these folders, or in folders within them. Returns: the results by their paths.

    Raises `HeadscopeError` if a folder has no result, or one that cannot be read.
    """
    paths = dict.fromkeys(path for folder in folders for path in found_in(Path(folder)))
    return {path: results.read(path) for path in paths}


def models_in(read: Mapping[Path, xr.Dataset]) -> list[MeasuredModel]:
    """The models that results are about.

    Two results are about one model if the hash of its weights is the same, whatever its name. A comparison is about
    each of its models.
    """
    names: dict[str, dict[str, None]] = {}
    sources: dict[str, list[Source]] = {}
    for path, result in read.items():
        for name, (sha256, part) in _models(result).items():
            names.setdefault(sha256 or name, {})[name] = None
            sources.setdefault(sha256 or name, []).append(Source(path, part))
    return [
        MeasuredModel(tuple(names[key]), key if key not in names[key] else "", tuple(sources[key])) for key in sources
    ]


def model_of(result: xr.Dataset, *others: xr.Dataset) -> MeasuredModel:
    """The model that a result is about, with that result alone, or with others too."""
    sources = tuple(Source(Path("result.nc"), part) for part in (result, *others))
    return MeasuredModel((str(result.attrs["model"]),), "", sources)


def found_in(folder: Path) -> list[Path]:
    """The results of a folder and those within it, one at least (`HeadscopeError`); a file is a result itself."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise HeadscopeError(f"folder '{folder}' does not exist; name folders that studies wrote with -o")
    paths = [path for path in files_within(folder, "result.nc") if not path.parent.name.startswith(".")]
    if not paths:
        raise HeadscopeError(f"folder '{folder}' has no results (result.nc); name folders that studies wrote with -o")
    return paths


def _models(result: xr.Dataset) -> dict[str, tuple[str, xr.Dataset]]:
    """The models of a result, each with the hash of its weights and what is about it."""
    attrs = result.attrs
    if "compared_sha256" not in attrs:
        return {str(attrs["model"]): (str(attrs["model_sha256"]), result)}
    hashes = json.loads(attrs["compared_sha256"])
    later = [name for name in result["model"].values.tolist() if name in hashes]
    maps = [name for name in result.variables if str(name).startswith("typical_")]  # those of the first model
    parts = {name: result.sel(model=[name]).drop_vars(maps) if name in later else result for name in hashes}
    return {name: (str(sha256), parts[name]) for name, sha256 in hashes.items()}

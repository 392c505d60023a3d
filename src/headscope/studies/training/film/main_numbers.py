"""The main numbers of other studies at each step of a training."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from headscope import catalog
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.settings import StudyResults
from headscope.report.cards.head_numbers import numbers
from headscope.report.cards.main_numbers import main_numbers_by_address, shared
from headscope.report.study_page import study_page
from headscope.results.vocabulary import BOUNDS


class MainNumbers:
    """The main numbers of some studies at the steps that were read.

    * `studies`: makes the results of the studies of a model; None for no studies.
    * `heads`: of each step the main numbers of heads by study and address, [layer, head] with `lower` and `upper`.
    * `layers`: of each step the numbers of layers, [layer], also with these where they have an interval; of layer 0,
      the embeddings, there is none here.
    * `names`, `units`: of each main number of heads, its names at the steps, and its unit.
    """

    def __init__(self, studies: StudyResults | None, corpus: Corpus, settings: Settings):
        self.studies, self.corpus, self.settings = studies, corpus, settings
        self.heads: list[dict[str, xr.DataArray]] = []
        self.layers: list[dict[str, xr.DataArray]] = []
        self.names: dict[str, list[str]] = {}
        self.units: dict[str, str] = {}

    def add(self, model: Model) -> None:
        """Add the numbers of the model of the next step.

        Raises `HeadscopeError` if a study refuses the model or the corpus.
        """
        if self.studies is None:
            return
        self.heads.append({})
        self.layers.append({})
        settings, journal = self.settings, self.settings.journal
        if journal:
            settings = replace(settings, journal=replace(journal, folder=journal.folder / f"studies-{len(self.heads)}"))
        for study, result in self.studies(model, self.corpus, settings):
            self._add(study, result)
        self.settings.on_progress(self.corpus.n_examples)

    def _add(self, study: str, result: xr.Dataset) -> None:
        """Keep the main numbers of a result."""
        title = catalog.command_name(study)
        for address, (name, array) in main_numbers_by_address(result, numbers(result).assign(source=0)).items():
            key = f"{study} {address}"
            self.heads[-1][key] = array
            self.names.setdefault(key, []).append(f"{title}: {name}")
            variable = max((str(name) for name in result if f"{address}.".startswith(f"{name}.")), key=len)
            self.units[key] = str(result[variable].attrs.get("units", ""))
        for one in study_page(result).layer_numbers():
            self.layers[-1][f"{title}: {one.words}"] = one.array.sel(layer=one.array["layer"] > 0)


def common_name(names: list[str]) -> str:
    """The common name of a number at all steps: a label that only some have is left open.

    >>> common_name(["syntax: accuracy: all, head → dependent", "syntax: accuracy: all"])
    'syntax: accuracy: all'
    """
    return shared(names) or names[0].rpartition(":")[0]


def stacked(of_steps: list[dict[str, xr.DataArray]], shape: Mapping[str, int]) -> tuple[list[str], np.ndarray]:
    """The names of all numbers of some steps, and their values and bounds, [name, step, *shape, value or bound].

    NaN where a step, a layer or a head lacks a number, or a number has no interval.

    * `shape`: the number of layers, and of heads where there are any.

    >>> number = xr.DataArray([0.5], {"layer": [2]}, ("layer",))
    >>> names, values = stacked([{"a": number}, {}], {"layer": 2})
    >>> names, values[0, 0, :, 0].tolist()
    (['a'], [nan, 0.5])
    """
    names = list(dict.fromkeys(name for numbers in of_steps for name in numbers))
    values = np.full((len(names), len(of_steps), *shape.values(), 1 + len(BOUNDS)), np.nan)
    for step, of_step in enumerate(of_steps):
        for name, array in of_step.items():
            labels = {dim: np.arange(1, size + 1) for dim, size in shape.items()}
            full = array.reindex(labels).transpose(*shape)
            parts = [full, *(full[bound] for bound in BOUNDS if bound in full.coords)]
            for column, part in enumerate(parts):
                values[names.index(name), step, ..., column] = part.values
    return names, values

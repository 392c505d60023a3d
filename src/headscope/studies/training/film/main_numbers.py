"""The main numbers of other studies at each step of a training."""

from dataclasses import replace

import xarray as xr

from headscope import catalog
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.settings import StudyResults
from headscope.report.cards.head_numbers import numbers
from headscope.report.cards.main_numbers import main_numbers_by_address
from headscope.report.study_page import study_page


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
            self.units[key] = str(result[_variable(result, address)].attrs.get("units", ""))
        for one in study_page(result).layer_numbers():
            self.layers[-1][f"{title}: {one.words}"] = one.array.sel(layer=one.array["layer"] > 0)


def _variable(result: xr.Dataset, address: str) -> str:
    """The variable of an address such as `attention_to.sep`."""
    return max((str(name) for name in result if f"{address}.".startswith(f"{name}.")), key=len)

"""The main numbers of other studies at each step of a training, in one pass a step where studies share one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xarray as xr

from headscope import catalog
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.pass_journal import PassJournal
from headscope.passes.shared_pass import alike, first_pass, read_together
from headscope.report.cards.head_numbers import numbers
from headscope.report.cards.main_numbers import main_numbers_by_address
from headscope.report.study_page import study_page

# Studies of one model and one corpus, with the options that leave out what no main number needs.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "profile": {},
    "patterns": {"shown": 0},
    "syntax": {},
    "relations": {"untrained": False},
    "coreference": {},
    "geometry": {},
    "trees": {"random": False},
}
OF_SEVERAL = ("patterns",)  # that take a tuple of corpora


def studies_of(text: str | None) -> tuple[str, ...]:
    """The studies of a list such as "profile,syntax"; none without one.

    Raises `HeadscopeError` for one that a film cannot show.

    >>> studies_of("syntax, profile,syntax")
    ('syntax', 'profile')
    """
    studies = tuple(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
    for study in studies:
        if study not in OPTIONS:
            raise HeadscopeError(f"a film cannot show the study '{study}'; it can show {', '.join(OPTIONS)}")
    return studies


class StudyNumbers:
    """The main numbers of some studies at the steps that were read.

    * `heads`: of each step the main numbers of heads by study and address, [layer, head] with `lower` and `upper`.
    * `layers`: of each step the numbers of layers, [layer], also with these where they have an interval; of layer 0,
      the embeddings, there is none here.
    * `names`, `units`: of each main number of heads, its names at the steps, and its unit.
    """

    def __init__(self, studies: tuple[str, ...], corpus: Corpus, settings: Settings):
        self.studies, self.corpus, self.settings = studies, corpus, settings
        self.heads: list[dict[str, xr.DataArray]] = []
        self.layers: list[dict[str, xr.DataArray]] = []
        self.names: dict[str, list[str]] = {}
        self.units: dict[str, str] = {}

    def add(self, model: Model) -> None:
        """Run the studies on the model of the next step.

        Raises `HeadscopeError` if one of them refuses the model or the corpus.
        """
        if not self.studies:
            return
        self.heads.append({})
        self.layers.append({})
        with self._folder() as folder:
            runs = {study: partial(self._run, study, model) for study in self.studies}
            settings = {study: self._settings(study, folder) for study in self.studies}
            if self.settings.engine is None:
                self._read_shared(runs, settings, folder)
            for study, run in runs.items():
                self._add(study, run(settings[study]))
        self.settings.on_progress(self.corpus.n_examples)

    def _run(self, study: str, model: Model, settings: Settings) -> xr.Dataset:
        corpus = (self.corpus,) if study in OF_SEVERAL else self.corpus
        try:
            return catalog.load("studies", study).run(model, corpus, settings, **OPTIONS[study])
        except HeadscopeError as error:
            raise HeadscopeError(f"study '{study}': {error}") from error

    def _read_shared(self, runs: Mapping[str, Any], settings: Mapping[str, Settings], folder: Path) -> None:
        """Read the corpus once for all studies that can share a pass and have not read it yet."""
        passes = [first_pass(run, settings[study], [self.corpus]) for study, run in runs.items()]
        for group in alike(filter(None, passes)):
            names = "-".join(str(asked.journal.run["study"]) for asked in group)
            read_together(group, self._quiet(PassJournal(folder / names, self._run_of(names))))

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Within this context the folder of the journals of this step, which a film that is stopped keeps."""
        if self.settings.journal:
            yield self.settings.journal.folder / f"studies-{len(self.heads)}"
            return
        with TemporaryDirectory(prefix="headscope-") as scratch:
            yield Path(scratch)

    def _settings(self, study: str, folder: Path) -> Settings:
        journal = PassJournal(folder / study, self._run_of(study), kept=True, silent=True)
        return self._quiet(None if self.settings.in_worker else journal)

    def _run_of(self, study: str) -> dict[str, str | int]:
        """What the numbers of a study depend on, beside what its passes know."""
        return {**(self.settings.journal.run if self.settings.journal else {}), "study": study}

    def _quiet(self, journal: PassJournal | None) -> Settings:
        """The settings of a study, whose progress is that of the step."""
        return replace(self.settings, journal=journal, on_progress=_silent, on_total=_silent, keep_interrupted=False)

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


def _silent(done: object) -> None:
    """Say nothing."""

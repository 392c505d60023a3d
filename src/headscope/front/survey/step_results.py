"""The results of studies at a step of a training, for a film."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_origin

from headscope import catalog
from headscope.errors import HeadscopeError

if TYPE_CHECKING:
    import xarray as xr

    from headscope.corpora import Corpus
    from headscope.models import Model
    from headscope.passes.settings import Settings

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


def step_results(text: str | None) -> "StepResults | None":
    """The studies of a list such as "profile,syntax"; None without one.

    Raises `HeadscopeError` for a study that a film cannot show.

    >>> step_results("syntax, profile,syntax").studies
    ('syntax', 'profile')
    """
    studies = tuple(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
    for study in studies:
        if study not in OPTIONS:
            raise HeadscopeError(f"a film cannot show the study '{study}'; it can show {', '.join(OPTIONS)}")
    return StepResults(studies) if studies else None


@dataclass(frozen=True)
class StepResults:
    """Runs studies on the model of a step, in one pass where they share one."""

    studies: tuple[str, ...]

    def __call__(self, model: "Model", corpus: "Corpus", settings: "Settings") -> "Iterator[tuple[str, xr.Dataset]]":
        """The result of each study; the journal of the settings is that of the step.

        Raises `HeadscopeError` if a study refuses the model or the corpus.
        """
        quiet = replace(settings.quiet, keep_interrupted=False)
        by_study = {study: (corpora_of(study, [corpus]), OPTIONS[study]) for study in self.studies}
        for study, arguments in read_first(model, by_study, quiet):
            try:
                yield study, catalog.load("studies", study).run(**arguments)
            except HeadscopeError as error:
                raise HeadscopeError(f"study '{study}': {error}") from error


def corpora_of(study: str, corpora: Sequence[Any]) -> dict[str, Any]:
    """The argument of `run` that corpora are given as: the first, or all of them."""
    name, parameter = list(signature(catalog.load("studies", study).run).parameters.items())[1]
    return {name: tuple(corpora) if get_origin(parameter.annotation) is tuple else corpora[0]}


def read_first(
    model: "Model", by_study: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]], settings: "Settings"
) -> "Iterator[tuple[str, dict[str, Any]]]":
    """Read once for studies of a model that share a pass, and give the arguments of `run` of each."""
    from headscope.passes.settings import PassJournal
    from headscope.passes.shared_pass import read_shared

    kept, arguments = settings.journal, dict[str, dict[str, Any]]()
    in_place = nullcontext(kept.folder if kept else "")
    with in_place if kept or settings.in_worker else TemporaryDirectory(prefix="headscope-") as folder:
        for study, (corpora, options) in by_study.items():
            run = {**(kept.run if kept else {}), "study": study}
            journal = (
                None if settings.in_worker else PassJournal(Path(folder) / study, run, kept=bool(kept), silent=True)
            )
            arguments[study] = {"model": model, **corpora, "settings": replace(settings, journal=journal), **options}
        if settings.engine is None:
            read_shared(arguments)
        yield from arguments.items()

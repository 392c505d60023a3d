"""The results of studies at a step of a training, for a film."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.survey.plan import corpora_of

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
        """The result of each study.

        * `settings`: with a journal for this step, which a film that is stopped goes on from.

        Raises `HeadscopeError` if a study refuses the model or the corpus.
        """
        from headscope.passes.pass_journal import PassJournal
        from headscope.passes.shared_pass import read_shared

        kept = settings.journal
        with nullcontext(kept.folder) if kept else TemporaryDirectory(prefix="headscope-") as folder:
            arguments = dict[str, dict[str, Any]]()
            for study in self.studies:
                run = {**(kept.run if kept else {}), "study": study}
                journal = None if settings.in_worker else PassJournal(Path(folder) / study, run, kept=True, silent=True)
                quiet = {"on_progress": _silent, "on_total": _silent, "keep_interrupted": False, "journal": journal}
                given = {"model": model, "settings": replace(settings, **quiet), **OPTIONS[study]}
                arguments[study] = given | corpora_of(study, [corpus])
            if settings.engine is None:
                read_shared(arguments)
            for study in self.studies:
                try:
                    result = catalog.load("studies", study).run(**arguments[study])
                except HeadscopeError as error:
                    raise HeadscopeError(f"study '{study}': {error}") from error
                yield study, result


def _silent(done: object) -> None:
    """Say nothing."""

"""A survey in Python: the results of all studies that a model and some data allow."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import xarray as xr

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.arguments import refuse_unknown
from headscope.front.survey.costs import SHARING
from headscope.front.survey.plan import MANY, facts_of, planned

if TYPE_CHECKING:
    from headscope.models import Model
    from headscope.passes.settings import Settings


def survey(
    model: Any, *corpora: Any, only: Sequence[str] = (), without: Sequence[str] = (), full: bool = False, **options: Any
) -> dict[str, xr.Dataset]:
    """Results of every study that a model and some data allow, by the name of the study.

    `headscope.claims` says which claims of the papers they bear out, `headscope.survey_plan` what would run. The
    command `headscope survey` also draws the portrait of the model, and goes on where it was stopped.

    * `model`: What `headscope.load` returns, a name, or a folder.
    * `corpora`: Whatever `headscope.read` reads; by default the bundled sample. Of several corpora the first that has
      what a study needs is read, by `patterns` and `layers` all that have it.
    * `only`: Studies to run; by default all that can run. `without`: Studies to leave out.
    * `full`: Take all examples also where a study takes some (`probe`, `structure`, `attributions`), and longer texts
      in `induction`.
    * `options`: Fields of `headscope.Settings` by name, such as `seed` and `workers`, `examples`, `tokenizer` and
      `progress`, for all studies.

    Studies that can share a pass over a corpus do so, with the bits of the separate studies.

    A study that refuses the model or the data is left out with a warning.

    Raises `HeadscopeError` for a study that is unknown, and if none could be run.

    >>> import headscope
    >>> list(headscope.survey("minilm", headscope.read("sample", limit=6), only=["profile", "syntax"]))
    ['profile', 'syntax']
    """
    from headscope import corpora as readers
    from headscope.front.api import ARGUMENTS, study
    from headscope.models import Model, load
    from headscope.passes.pass_journal import PassJournal
    from headscope.passes.settings import Settings

    refuse_unknown(
        "survey", options, ["only", "without", "full", *(field.name for field in fields(Settings)), *ARGUMENTS]
    )
    read = {f"corpus {number}": _read(readers, one) for number, one in enumerate(corpora or ("sample",), 1)}
    facts = [facts_of(name, corpus, len(corpus)) for name, corpus in read.items()]
    loaded = model if isinstance(model, Model) else load(model)
    runs = {
        plan.study: _given(plan.study, [read[one.source] for one in plan.corpora])
        for plan in planned(facts, task=False, only=only, without=without)
        if not plan.lacks
    }
    results: dict[str, xr.Dataset] = {}
    with TemporaryDirectory(prefix="headscope-") as scratch:
        journals = {name: PassJournal(Path(scratch) / name, {"study": name}, silent=True) for name in runs}
        own = {name: value for name, value in options.items() if name in {field.name for field in fields(Settings)}}
        asked = {name: {"full": True} if full and _has_full(name) else {} for name in runs}
        shared = {name: Settings(**own, journal=journals[name]) for name in runs if name in SHARING}
        _read_shared(loaded, runs, shared, asked)
        for name, given in runs.items():
            try:
                results[name] = study(name)(loaded, given, journal=journals[name], **asked[name], **options)
            except HeadscopeError as error:
                warnings.warn(f"headscope.survey leaves out {name}: {error}", stacklevel=2)
    if not results:
        raise HeadscopeError("no study could be run on these corpora; name others, or other studies")
    return results


def _read_shared(
    model: "Model", runs: Mapping[str, Any], settings: "Mapping[str, Settings]", asked: Mapping[str, Mapping[str, Any]]
) -> None:
    """Read once for all studies that can share a pass; one that refuses says so when it runs.

    * `runs`: what each study reads; `settings`: of those that can share, each with its journal.
    * `asked`: options of each study.
    """
    from headscope.passes.shared_pass import alike, first_pass, read_together

    passes = []
    for name, own in settings.items():
        run = catalog.load("studies", name).run
        corpora = runs[name] if name in MANY else [runs[name]]
        with suppress(HeadscopeError):
            passes.append(first_pass(partial(run, model, runs[name], **asked[name]), own, corpora))
    for group in alike(filter(None, passes)):
        first = group[0].reader.settings
        read_together(group, replace(first, journal=None))


def _has_full(name: str) -> bool:
    """Whether a study takes some of many examples unless all are asked for."""
    return "full" in signature(catalog.load("studies", name).run).parameters


def _given(name: str, corpora: list[Any]) -> Any:
    """The corpora of a study as its function takes them: the first, or several as a tuple."""
    return tuple(corpora) if name in MANY else corpora[0]


def _read(readers: Any, corpus: Any) -> Any:
    return corpus if isinstance(corpus, readers.Corpus) else readers.read(corpus)

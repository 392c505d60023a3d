"""A survey in Python: the results of all studies that a model and some data allow, and the plan of it."""

import warnings
from collections.abc import Sequence
from dataclasses import fields
from inspect import signature
from typing import Any

import pandas as pd
import xarray as xr

from headscope import catalog
from headscope.errors import UNEXPECTED, HeadscopeError, as_one_line
from headscope.front.arguments import refuse_unknown
from headscope.front.survey.costs import ModelShape, checkpoint_shape, estimates, examples_of, loaded_shape, rows
from headscope.front.survey.plan import facts_of, planned
from headscope.front.survey.step_results import corpora_of, read_first
from headscope.storage.kept_inputs import inputs_kept


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
    from headscope.passes.settings import Settings

    refuse_unknown(
        "survey", options, ["only", "without", "full", *(field.name for field in fields(Settings)), *ARGUMENTS]
    )
    read = {f"corpus {number}": readers.read(corpus) for number, corpus in enumerate(corpora or ("sample",), 1)}
    facts = [facts_of(name, corpus, len(corpus)) for name, corpus in read.items()]
    loaded = model if isinstance(model, Model) else load(model)
    by_study = {
        plan.study: (corpora_of(plan.study, [read[corpus.source] for corpus in plan.corpora]), _full(plan.study, full))
        for plan in planned(facts, task=False, only=only, without=without)
        if not plan.lacks
    }
    names = {field.name for field in fields(Settings)}
    settings = Settings(**{name: value for name, value in options.items() if name in names})
    others = {name: value for name, value in options.items() if name not in names}
    results: dict[str, xr.Dataset] = {}
    with inputs_kept():
        for name, arguments in read_first(loaded, by_study, settings):
            try:
                results[name] = study(name)(**arguments, **others)
            except (HeadscopeError, *UNEXPECTED) as error:
                warnings.warn(f"headscope.survey leaves out {name}: {as_one_line(error)}", stacklevel=2)
    if not results:
        raise HeadscopeError("no study could be run on these corpora; name others, or other studies")
    return results


def _full(study: str, full: bool) -> dict[str, bool]:
    """The option of a study that takes some of many examples unless all are asked for."""
    return {"full": True} if full and "full" in signature(catalog.load("studies", study).run).parameters else {}


def survey_plan(
    model: Any, *corpora: Any, only: Sequence[str] = (), without: Sequence[str] = (), full: bool = False
) -> pd.DataFrame:
    """What `headscope.survey` would run with the same arguments: a row for each study. Nothing runs.

    * `model`: What `headscope.load` returns, a name, or a folder; it is not loaded for this.
    * `corpora`: Whatever `headscope.read` reads; by default the bundled sample.
    * `only`: Studies to run; by default all that can run. `without`: Studies to leave out.
    * `full`: Take all examples also where a study takes some (`probe`, `structure`, `attributions`), and longer texts
      in `induction`.

    The columns: `study`, `runs`, `reads` (the corpora; or what the study needs), `seconds` on one core and `mib` of
    memory, both an estimate, missing for a study that is left out. A first row `one pass` is the reading that studies
    share.

    Raises `HeadscopeError` for a study that is unknown.

    >>> import headscope
    >>> plan = headscope.survey_plan("minilm", headscope.read("sample", limit=30), only=["profile", "syntax"])
    >>> plan[plan.runs].study.tolist()
    ['one pass', 'profile', 'syntax']
    """
    from headscope import corpora as readers

    read = [readers.read(corpus) for corpus in corpora or ("sample",)]
    facts = [facts_of(corpus.name, corpus, len(corpus)) for corpus in read]
    plans = planned(facts, task=False, only=only, without=without)
    expected = estimates(plans, _shape(model), full=full)
    return pd.DataFrame(rows(plans, expected, examples_of(plans)))


def _shape(model: Any) -> ModelShape:
    """The shape of a loaded model, or of one that is not loaded for this."""
    from headscope.models import Model
    from headscope.models.checkpoint import locate

    return loaded_shape(model) if isinstance(model, Model) else checkpoint_shape(locate(model))

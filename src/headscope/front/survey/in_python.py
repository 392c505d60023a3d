"""A survey in Python: the results of all studies that a model and some data allow."""

import warnings
from collections.abc import Sequence
from typing import Any

import xarray as xr

from headscope.errors import HeadscopeError
from headscope.front.survey.plan import facts_of, planned


def survey(
    model: Any, *corpora: Any, only: Sequence[str] = (), without: Sequence[str] = (), **options: Any
) -> dict[str, xr.Dataset]:
    """Results of every study that a model and some data allow, by the name of the study.

    `headscope.claims` says which claims of the papers they bear out. The command `headscope survey` also draws the
    portrait of the model, and goes on where it was stopped.

    * `model`: What `headscope.load` returns, a name, or a folder.
    * `corpora`: Whatever `headscope.read` reads; by default the bundled sample. Of several corpora the first that has
      what a study needs is read, by `patterns` and `layers` all that have it.
    * `only`: Studies to run; by default all that can run. `without`: Studies to leave out.
    * `options`: Fields of `headscope.Settings` by name, such as `seed` and `workers`, for all studies.

    A study that refuses the model or the data is left out with a warning.

    Raises `HeadscopeError` for a study that is unknown, and if none could be run.

    >>> import headscope
    >>> list(headscope.survey("minilm", headscope.read("sample", limit=30), only=["profile", "syntax"]))
    ['profile', 'syntax']
    """
    from headscope import corpora as readers
    from headscope.front.api import study
    from headscope.models import Model, load

    read = {f"corpus {number}": _read(readers, one) for number, one in enumerate(corpora or ("sample",), 1)}
    facts = [facts_of(name, corpus, len(corpus)) for name, corpus in read.items()]
    loaded = model if isinstance(model, Model) else load(model)
    results: dict[str, xr.Dataset] = {}
    for plan in planned(facts, task=False, only=only, without=without):
        if plan.lacks:
            continue
        sources = [read[one.source] for one in plan.corpora]
        try:
            results[plan.study] = study(plan.study)(
                loaded, sources[0] if len(sources) == 1 else tuple(sources), **options
            )
        except HeadscopeError as error:
            warnings.warn(f"headscope.survey leaves out {plan.study}: {error}", stacklevel=2)
    if not results:
        raise HeadscopeError("no study could be run on these corpora; name others, or other studies")
    return results


def _read(readers: Any, corpus: Any) -> Any:
    return corpus if isinstance(corpus, readers.Corpus) else readers.read(corpus)

"""Measures over a corpus, as a labelled result."""

from collections.abc import Iterable

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes.measures import Measure, together
from headscope.passes.observing import MeasureObserver
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import DEFAULTS, Settings
from headscope.results.variables import label


def measure(
    study: str,
    model: Model,
    corpus: Corpus,
    measures: Iterable[str],
    settings: Settings = DEFAULTS,
    *,
    further: Iterable[Measure] = (),
) -> xr.Dataset:
    """The result of a study that consists of measures: one pass over the corpus.

    * `measures`: names of the catalog; `further`: measures of a user's own.

    Raises `HeadscopeError` if no example fits into the model, or two measures have one name.
    """
    named = together(measures, further)
    attributes = provenance(study, model, corpus, settings)
    result = Pass(model, corpus, settings).collect(MeasureObserver(named))
    variables = {}
    for name, one in named.items():
        variables |= label(one.VARIABLE, result.value[name], model.capture.heads)
    return results.check(xr.Dataset(variables | result.coverage.variables(), attrs=attributes | result.attributes))

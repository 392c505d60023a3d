"""Measures over a corpus, as a labelled result."""

from collections.abc import Iterable

import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import DEFAULTS, Settings
from headscope.results.variables import label


def measure(
    study: str, model: Model, corpus: Corpus, measures: Iterable[str], settings: Settings = DEFAULTS
) -> xr.Dataset:
    """The result of a study that consists of measures: one pass over the corpus.

    Raises `HeadscopeError` if no example fits into the model.
    """
    names = tuple(measures)
    attributes = provenance(study, model, corpus, settings)
    result = Pass(model, corpus, settings).measure(names)
    variables = {}
    for name in names:
        variables |= label(catalog.load("measures", name).VARIABLE, result.value[name], model.capture.heads)
    return results.check(xr.Dataset(variables | result.coverage.variables(), attrs=attributes | result.attributes))

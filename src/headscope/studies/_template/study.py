"""Run the study: from its options to a labelled result."""

import xarray as xr

from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import measure, measuring
from headscope.passes.planned_pass import PlannedPass
from headscope.statistics.bootstrap import Tally

from . import STUDY

NAME = __name__.split(".")[-2]  # of the folder


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    entropy: bool = True,
) -> xr.Dataset:
    """Attention to the token itself; keyword arguments beyond the three become options of the command.

    Arguments:

    * `model`: Model to measure.
    * `corpus`: Examples to read.
    * `settings`: Seed, batch size, number of resamples, and progress.
    * `entropy`: Measure the entropy too.

    Raises `HeadscopeError` if no example fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> run(load("minilm"), read("sample", Options(limit=4)), entropy=False)["template"].dims
    ('layer', 'head')
    """
    return measure(NAME, model, corpus, STUDY.measures if entropy else STUDY.measures[:1], settings)


def first_pass(model: Model, corpus: Corpus, settings: Settings, *, entropy: bool) -> PlannedPass[dict[str, Tally]]:
    """What other studies may read together with this one."""
    return measuring(model, corpus, STUDY.measures if entropy else STUDY.measures[:1], settings)

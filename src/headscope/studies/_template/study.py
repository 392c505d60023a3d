"""Run the study: from its options to a labelled result."""

import xarray as xr

from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import measure

ABOUT = "heads"
STUDY = __name__.split(".")[-2]  # the name of the folder
MEASURES = ("_template", "entropy")
# Variables that every result of the study has, and no other study has together.
REQUIRED = ("template",)


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
    return measure(STUDY, model, corpus, MEASURES if entropy else MEASURES[:1], settings)

"""Run the study: from its options to a labelled result."""

from typing import Annotated

import xarray as xr
from typer import Option

from headscope.corpora import Corpus
from headscope.engine import DEFAULTS, Settings
from headscope.engine.measure import measure
from headscope.models import Model

MEASURES = ("_template", "entropy")


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    entropy: Annotated[bool, Option(help="Measure the entropy too.")] = True,
) -> xr.Dataset:
    """Attention to the token itself; keyword arguments beyond the three become options of the command.

    Raises `HeadscopeError` if no example fits into the model.

    >>> from headscope import load, read
    >>> run(load("minilm"), read("sample"), entropy=False)["template"].dims
    ('layer', 'head')
    """
    return measure("_template", model, corpus, MEASURES if entropy else MEASURES[:1], settings)

"""A saved result that marks some heads: a task needs them, by the tests of `ablate`.

>>> from tempfile import mkdtemp
>>> from headscope import results
>>> results.attributes_of(marked(Path(mkdtemp()), (1, 2)))["study"]
'ablate'
"""

from pathlib import Path

import numpy as np
import xarray as xr

from headscope import results

WORDS = {"long_name": "gain", "units": "score", "source": "made"}
TEXT = dict.fromkeys(("headscope_version", "model", "model_sha256", "corpus", "corpus_sha256"), "made")
ATTRIBUTES = TEXT | {"study": "ablate", "n_examples": 40, "n_tokens": 400}


def marked(folder: Path, *heads: tuple[int, int], of: tuple[int, int] = (2, 4)) -> str:
    """Write it, and return its folder; `of`: the number of layers, and of heads of each."""
    gains, rates = np.zeros((*of, 1)), np.ones(of)
    for layer, head in heads:
        gains[layer - 1, head - 1], rates[layer - 1, head - 1] = -0.5, 0.001
    dims = ("layer", "head", "metric")
    labels = (list(range(1, of[0] + 1)), list(range(1, of[1] + 1)), ["accuracy"])
    at = dict(zip(dims, labels, strict=True))
    bounds = np.stack([gains - 0.1, gains + 0.1], -1)
    arrays = {
        "head_gain": xr.DataArray(gains, at, dims, attrs=WORDS),
        "head_gain_ci": xr.DataArray(bounds, at | {"bound": ["lower", "upper"]}, (*dims, "bound"), attrs=WORDS),
        "head_score": xr.DataArray(1 + gains, at, dims, attrs=WORDS),
        "head_q_value": xr.DataArray(rates, dict(list(at.items())[:2]), dims[:2], attrs=WORDS),
    }
    results.save(xr.Dataset(arrays, attrs=ATTRIBUTES | {"task": "other"}), folder)
    return str(folder)

"""Annotations of clustered heads: their behaviour, their patterns, and their relations."""

from pathlib import Path

import numpy as np
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.results.vocabulary import PATTERNS

# As Clark et al.'s code colours its Figure 6; of these the first that holds.
BROAD, NEIGHBOUR, SPECIAL = 3.8, 0.5, 0.6


def behaviour(result: xr.Dataset) -> xr.DataArray:
    """The behaviour of a head with a clear one: it attends broadly, to a neighbour, or to one class of tokens.

    * `result`: has `entropy`, `attention_offset` and `attention_to`.

    One of "broadly", "next", "previous", "itself", "sep", "cls", "punct" and "several"; "" where there is no head.
    """
    entropy, near, to = (result[name] for name in ("entropy", "attention_offset", "attention_to"))
    offsets = {"next": 1, "previous": -1, "itself": 0}
    holds = {"broadly": entropy > BROAD}
    holds |= {name: near.sel(offset=offset) > NEIGHBOUR for name, offset in offsets.items()}
    holds |= {name: to.sel(token_class=name) > SPECIAL for name in ("sep", "cls", "punct")}
    names = np.select([mask.values for mask in holds.values()], list(holds), "several")
    return _words(
        entropy, np.where(entropy.isnull(), "", names), "what a head attends to", "Clark et al. 2019, Figure 6"
    )


def pattern(folder: Path, model: Model) -> xr.DataArray:
    """The pattern that most of each head's maps have, from a folder that `patterns` wrote.

    Raises `HeadscopeError` if there is no such result, or it is of another model.
    """
    share = _read(folder, "patterns", model)["share"]
    share = (share.mean("task") if "task" in share.dims else share).transpose("layer", "head", "pattern")
    best = np.where(share.isnull().any("pattern"), -1, share.fillna(0).argmax("pattern"))
    names = np.array([*PATTERNS, ""])[best]
    return _words(share.isel(pattern=0), names, "pattern of most of a head's maps", "Kovaleva et al. 2019, 4.1")


def relation(folder: Path, model: Model) -> xr.DataArray:
    """The relation for which each head beats the best fixed word by most, from a folder that `syntax` wrote.

    "" for heads that are special for no relation (see `studies.syntax`).

    Raises `HeadscopeError` if there is no such result, or it is of another model.
    """
    result = _read(folder, "syntax", model)
    result = result.sel(relation=result["relation"] != "all")
    gain = (result["accuracy"] - result["baseline"]).where(result["special"] == 1).max("direction")
    gain = gain.transpose("layer", "head", "relation")
    best = np.where(gain.isnull().all("relation"), -1, gain.fillna(-1).argmax("relation"))
    names = np.array([*result["relation"].values.tolist(), ""])[best]
    return _words(gain.isel(relation=0), names, "relation that a head knows best", "Clark et al. 2019, section 4.2")


def _read(folder: Path, study: str, model: Model) -> xr.Dataset:
    result = results.read(folder)
    if (actual := result.attrs["study"]) != study:
        raise HeadscopeError(f"folder '{folder}' has a result of '{actual}'; name one that 'headscope {study}' wrote")
    sizes, expected = (
        (result.sizes["layer"], result.sizes["head"]),
        (len(model.capture.heads), max(model.capture.heads)),
    )
    if result.attrs["model_sha256"] != model.sha256 or sizes != expected:
        raise HeadscopeError(
            f"folder '{folder}' is of model '{result.attrs['model']}', not '{model.name}' (their weights differ); "
            f"run 'headscope {study}' with this model"
        )
    return result


def _words(like: xr.DataArray, names: np.ndarray, long_name: str, source: str) -> xr.DataArray:
    coords = {dim: like[dim].values for dim in ("layer", "head")}
    attributes = {"long_name": long_name, "units": "name", "source": source}
    return xr.DataArray(names.astype(object), coords, ("layer", "head"), attrs=attributes)

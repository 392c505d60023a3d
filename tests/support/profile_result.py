"""A profile made of chosen numbers: what the figures and the report are tested with."""

import json
from functools import cache

import numpy as np
import xarray as xr

from headscope.results.vocabulary import BOUNDS, FEATURES, OFFSETS, RELATIONS, TOKEN_CLASSES

SHARE = {"units": "share of attention", "source": "Clark et al. 2019, section 3"}


def profile_result(n_layers: int = 4, n_heads: int = 3, special: bool = True, **attributes: object) -> xr.Dataset:
    """A seeded profile; head 2-3 is planted as previous-token head (0.875), head 3-1 as separator head (0.9375).

    * `special`: whether the model has [CLS] and [SEP]; without, their values are missing, as for GPT-2.
    """
    return _planted(n_layers, n_heads, special).copy(deep=True).assign_attrs(attributes)


@cache
def _planted(n_layers: int, n_heads: int, special: bool) -> xr.Dataset:
    random = np.random.default_rng(0)
    coords = {"token_class": list(TOKEN_CLASSES), "offset": list(OFFSETS)}
    coords |= {"feature": list(FEATURES), "relation": list(RELATIONS)}
    variables: dict[str, xr.DataArray] = {}

    def add(name: str, dim: str | None, low: float, high: float, **attrs: str) -> None:
        dims = ["layer", "head", *([dim] if dim else [])]
        axes = {"layer": range(1, n_layers + 1), "head": range(1, n_heads + 1), **({dim: coords[dim]} if dim else {})}
        shape = [len(axes[key]) for key in dims]
        values = xr.DataArray(random.uniform(low, high, shape), coords=axes, dims=dims, attrs={**SHARE, **attrs})
        variables[name] = values

    add("attention_to", "token_class", 0.0, 0.4, long_name="attention to each class of token")
    add("sep_to_sep", None, 0.2, 0.9, long_name="attention from separators to separators")
    add("attention_offset", "offset", 0.0, 0.4, long_name="attention to the token at each offset")
    add("entropy", None, 0.5, 2.9, long_name="entropy of attention", units="nats")
    add("cls_entropy", None, 0.5, 3.0, long_name="entropy of attention from [CLS]", units="nats")
    add("feature_attention", "feature", 0.0, 0.3, long_name="attention to the most attended token of each feature")
    add(
        "cls_feature_attention",
        "feature",
        0.0,
        0.3,
        long_name="attention from [CLS] to the most attended token of each feature",
    )
    add("token_attention", "relation", 0.0, 0.3, long_name="attention from one word of a pair to the other")
    variables["attention_offset"].loc[{"layer": 2, "head": 3, "offset": -1}] = 0.875
    variables["attention_to"].loc[{"layer": 3, "head": 1, "token_class": "sep"}] = 0.9375
    variables["entropy"].loc[{"layer": 1, "head": 1}] = 3.1875
    if not special:
        _remove_special(variables)
    return _finished(variables)


def _remove_special(variables: dict[str, xr.DataArray]) -> None:
    for name in ("sep_to_sep", "cls_entropy", "cls_feature_attention"):
        variables[name][:] = np.nan
    for name, dim in (("attention_to", "token_class"), ("feature_attention", "feature")):
        variables[name].loc[{dim: ["cls", "sep"]}] = np.nan


def _finished(variables: dict[str, xr.DataArray]) -> xr.Dataset:
    beside: dict[str, xr.DataArray] = {}
    for name, array in variables.items():
        interval = xr.concat([(array - 0.01).clip(0), array + 0.01], dim="bound").transpose(..., "bound")
        attrs = {**array.attrs, "long_name": f"95% interval of {name}"}
        beside[f"{name}_ci"] = interval.assign_coords(bound=list(BOUNDS)).assign_attrs(attrs)
        counts = xr.full_like(array.isel(layer=0, head=0, drop=True), 50).astype(int)
        beside[f"{name}_n_examples"] = counts.assign_attrs(units="examples", source="", long_name=f"examples of {name}")
    shares = xr.DataArray([0.05, 0.1, 0.125, 0.725], coords={"token_class": list(TOKEN_CLASSES)})
    beside["token_share"] = shares.assign_attrs(SHARE, long_name="share of the tokens that a class has")
    uniform = xr.DataArray(3.25, attrs={**SHARE, "units": "nats", "long_name": "entropy of uniform attention"})
    return xr.Dataset(variables | beside | {"uniform_entropy": uniform}, attrs=_provenance())


def _provenance() -> dict[str, object]:
    return {
        "study": "profile",
        "headscope_version": "0.1.0",
        "model": "tiny",
        "model_revision": "main",
        "model_sha256": "ab" * 32,
        "model_type": "bert",
        "capture": "attention interface",
        "corpus": "sample",
        "corpus_sha256": "cd" * 32,
        "n_examples": 50,
        "n_tokens": 1234,
        "skipped": json.dumps({"empty": 1, "long": 3}),
        "settings": json.dumps({"limit": None, "as_coded": False}),
        "seed": 0,
        "versions": json.dumps({"torch": "2.8.0", "transformers": "5.20.0"}),
        "started": "2026-01-02T03:04:05+00:00",
        "duration_s": 12.5,
    }

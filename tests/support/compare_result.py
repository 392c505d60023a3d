"""A comparison made of chosen numbers: what its findings and figures are tested with."""

import numpy as np
import xarray as xr

from headscope.results.vocabulary import BOUNDS
from support.profile_result import profile_result

LAYERS, HEADS = 4, 3
# 1 less the similarity of each layer's heads: the last two changed most.
CHANGE = np.array([[0.01, 0.02, 0.03], [0.04, 0.05, 0.06], [0.10, 0.11, 0.15], [0.20, 0.40, 0.30]])
MEASURES = ("attention_to", "attention_offset", "entropy", "feature_attention")


def compare_result(
    *models: str, change: np.ndarray = CHANGE, restored: bool = False, spread: float = 0.01
) -> xr.Dataset:
    """A comparison of later models, all with the same `change`; each interval is `spread` wide to both sides."""
    names = list(models or ("after",))
    axes = {"model": names, "layer": range(1, LAYERS + 1), "head": range(1, HEADS + 1)}
    heads = xr.DataArray(np.stack([1 - change] * len(names)), axes, list(axes))
    cosine = {"units": "cosine", "source": "Kovaleva et al. 2019", "long_name": "cosine similarity of attention with a"}
    nats = {"units": "nats", "source": "nowhere", "long_name": "Jensen-Shannon divergence"}
    variables = {
        "similarity": heads.assign_attrs(cosine),
        "layer_similarity": heads.mean("head").assign_attrs(cosine),
        "js_divergence": ((1 - heads) / 2).assign_attrs(nats),
        "layer_js_divergence": ((1 - heads) / 2).mean("head").assign_attrs(nats),
    }
    profile = profile_result(LAYERS, HEADS)
    for name in MEASURES:
        values = profile[name] - profile[name].mean()
        variables[f"difference_{name}"] = xr.concat([values] * len(names), "model").assign_coords(model=names)
    if restored:
        variables |= _restored(names)
    beside: dict[str, xr.DataArray] = {}
    for name, array in variables.items():
        bounds = xr.concat([array - spread, array + spread], "bound").transpose(..., "bound")
        attrs = array.attrs | {"long_name": f"interval of {name}"}
        beside[f"{name}_ci"] = bounds.assign_coords(bound=list(BOUNDS)).assign_attrs(attrs)
        count = {"long_name": f"examples of {name}", "units": "examples", "source": ""}
        beside[f"{name}_n_examples"] = xr.DataArray(50, attrs=count)
    attrs = profile.attrs | {"study": "compare", "reference": "before", "task": "mrpc"}
    return xr.Dataset(variables | beside, attrs=attrs)


def _restored(names: list[str]) -> dict[str, xr.DataArray]:
    scores = np.array([[0.85, 0.90], [0.845, 0.895], [0.75, 0.80]])
    axes = {"model": names, "restored": [0, 1, 2], "metric": ["accuracy", "f1"]}
    attrs = {"units": "score", "source": "Hao et al. 2019", "long_name": "score"}
    array = xr.DataArray(np.stack([scores] * len(names)), axes, list(axes), attrs=attrs)
    return {"restored_score": array, "restored_change": (array - array.isel(restored=0)).assign_attrs(attrs)}

"""How much attention has changed: what a cosine similarity lacks of 1."""

import xarray as xr


def change(similarity: xr.DataArray) -> xr.DataArray:
    """1 less the similarity, with its interval: 0 where nothing has changed.

    >>> similarity = xr.DataArray([0.75], coords={"layer": [1], "lower": ("layer", [0.5]), "upper": ("layer", [1.0])})
    >>> found = change(similarity)
    >>> float(found[0]), float(found["lower"][0]), float(found["upper"][0])
    (0.25, 0.0, 0.5)
    """
    ends = {"lower": "upper", "upper": "lower"} if "lower" in similarity.coords else {}
    bounds = {end: 1 - similarity[other] for end, other in ends.items()}
    words = str(similarity.attrs.get("long_name", "similarity"))
    words = words.replace("cosine similarity of attention with", "change of attention since")
    attrs = similarity.attrs | {"long_name": words, "units": "1 − cosine"}
    return (1 - similarity).assign_coords(bounds).assign_attrs(attrs).rename("change")

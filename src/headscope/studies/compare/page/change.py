"""The change of attention: 1 minus the cosine similarity."""

import xarray as xr

# Heads of a lower cosine similarity have clearly changed.
LIKE = 0.9


def change(similarity: xr.DataArray, where: str = "") -> xr.DataArray:
    """1 minus the similarity, with its interval; 0 where nothing has changed. `where` ends its name.

    >>> coords = {"layer": [1], "lower": ("layer", [0.5]), "upper": ("layer", [1.0])}
    >>> changed = change(xr.DataArray([0.75], coords, ["layer"]))
    >>> changed.item(), changed["lower"].item(), changed["upper"].item()
    (0.25, 0.0, 0.5)
    """
    ends = {"lower": "upper", "upper": "lower"} if "lower" in similarity.coords else {}
    bounds = {end: 1 - similarity[other] for end, other in ends.items()}
    attrs = {"long_name": f"change of attention since the first model{where}", "units": "1 − cosine"}
    return (1 - similarity).assign_coords(bounds).assign_attrs(similarity.attrs | attrs).rename("change")

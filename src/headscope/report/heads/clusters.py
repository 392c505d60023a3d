"""Which heads a head is like (Clark et al. 2019, section 6)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from headscope.figures._labels import head_name
from headscope.report._clusters import clusters
from headscope.report.findings._words import number
from headscope.report.heads._words import ordinal
from headscope.report.parts import Finding

NEAREST, NAMED = 5, 12


def main(result: xr.Dataset) -> tuple[str, ...]:
    """None: what it measures beside divergences is in `profile`."""
    return ()


def notes(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The cluster of each head."""
    cluster = result["cluster"]
    words = [str(each) if each > 0 else "" for each in cluster.values.ravel().tolist()]
    return {"Cluster": cluster.copy(data=np.array(words, dtype=object).reshape(cluster.shape))}


def told(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """The heads that it is nearest to, its cluster, and how far it is from all."""
    if not len(numbers):
        return
    place = (int(numbers["layer"].iloc[0]), int(numbers["head"].iloc[0]))
    n = f"n = {int(result['divergence_n_examples'].max()):,} examples"
    heads = result["divergence"].stack(at=("other_layer", "other_head")).dropna("at", how="all")
    own = heads.sel(layer=place[0], head=place[1])
    near = [at for at in own["at"].values[np.argsort(own.values, kind="stable")].tolist() if at != place]
    said = "; ".join(f"{head_name(*at)} {_between(result, place, at)}" for at in near[:NEAREST])
    yield Finding("Nearest heads", f"{said} nats of Jensen-Shannon divergence, of {len(near)} heads; {n}.")
    mean = heads.sum("at") / len(near)
    rank = 1 + int((mean > mean.sel(layer=place[0], head=place[1])).sum())
    middle = f"the median head has {number(float(mean.median()))}"
    far = (
        f"{number(float(mean.sel(layer=place[0], head=place[1])))} nats ({ordinal(rank)} of {len(near) + 1}, {middle})"
    )
    yield Finding("From all heads", f"Mean divergence {far}; {n}.")
    (mine,) = [each for each in clusters(result) if place in each.heads]
    names = [name for name, at in zip(mine.names, mine.heads, strict=True) if at != place]
    with_ = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if names[NAMED:] else "")
    stable = f"agreement of clusters of resampled examples {number(float(result['cluster_stability']))}"
    yield Finding("Cluster", f"Cluster {mine.number}: {f'with {with_}' if with_ else 'alone'} ({stable}).")


def _between(result: xr.Dataset, one: tuple[int, int], other: tuple[int, int]) -> str:
    place = {"layer": one[0], "head": one[1], "other_layer": other[0], "other_head": other[1]}
    lower, upper = result["divergence_ci"].sel(place).values.tolist()
    return f"{number(float(result['divergence'].sel(place)))} [{number(lower)}, {number(upper)}]"

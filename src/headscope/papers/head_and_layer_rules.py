"""Rules over layers (two above a limit, a rise or a fall, an order, a peak) and over heads."""

from itertools import permutations
from math import atanh, hypot, sqrt, tanh

import numpy as np
import xarray as xr
from scipy.stats import binomtest, norm, rankdata

from headscope.corpora.tasks.metrics import SHARES
from headscope.errors import HeadscopeError
from headscope.figures.labels import head_name
from headscope.papers.numbers import place_of
from headscope.report.claims import Claim, above, apart
from headscope.report.wording import Estimate, of_array
from headscope.statistics.significance import RATE, q_above, q_no_worse, standard_error

LONGEST_ORDER = 8
DRAWS = 500
HARM = 0.02


def layers_above(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """Two neighbouring layers are above the limit: the lower of the two, of the best pair."""
    bounds = [array] + [array[name] if name in array.coords else array * np.nan for name in ("lower", "upper")]
    pairs = [np.minimum(part.values[:-1], part.values[1:]) for part in bounds]
    best = int(np.nanargmax(pairs[0]))
    layer = int(array["layer"].values[best])
    value, lower = (float(part[best]) for part in pairs[:2])
    return above(Estimate(value, lower, float(pairs[2].max())), limit, n), f"layers {layer} and {layer + 1}"


def rises(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number rises over layers: its correlation with the layer is above 0, over examples and over layers."""
    return _correlation(array, 1.0, n), _ends(array)


def falls(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number falls over layers."""
    return _correlation(array, -1.0, n), _ends(array)


def in_order(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """Numbers rise in the order in which the entry lists their labels (exact permutation test)."""
    values = array.values.ravel()
    if not 3 < len(values) <= LONGEST_ORDER:
        raise HeadscopeError(
            f"rule 'in order' takes 4 to {LONGEST_ORDER} labels, '{array.name}' has {len(values)}; name them in `at`"
        )
    ranks = np.arange(len(values))
    value = float(np.corrcoef(ranks, rankdata(values))[0, 1])
    others = [np.corrcoef(ranks, order)[0, 1] for order in permutations(np.argsort(np.argsort(values)).tolist())]
    p = float(np.mean(np.array(others) >= value - 1e-12))
    sure = value if p < RATE else value - 2.0
    return Claim(value, 0.0, Estimate(value, min(sure, value), value if p > 1 - RATE else 1.0), n), ""


def peaks_in_the_middle(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The best layer is in the middle third: the best of these is above the best of all others."""
    layers = array["layer"].values
    middle = (layers > len(layers) / 3) & (layers <= 2 * len(layers) / 3 + 1e-9)
    inner, outer = (array.isel(layer=part) for part in (middle, ~middle))
    best = [part.isel(layer=int(np.nanargmax(part.values))) for part in (inner, outer)]
    claim = apart(of_array(best[0]), of_array(best[1]), n, least=0)
    return claim, f"layer {int(array['layer'].values[int(np.nanargmax(array.values))])}"


def _correlation(array: xr.DataArray, sign: float, n: int) -> Claim:
    """Pearson's correlation with the layer, in a direction; its error over layers (Fisher's z) and over examples."""
    layers, values = array["layer"].values.astype(float), array.values.astype(float)
    if len(layers) < 4 or np.isnan(values).any() or values.std() == 0:
        return Claim(float("nan"), 0.0, Estimate(float("nan")), n)
    value = float(np.corrcoef(layers, values)[0, 1])
    spread = 0.0
    if "lower" in array.coords:
        error = standard_error(array).values
        noise = np.random.default_rng(0).standard_normal((DRAWS, len(values))) * error
        spread = float(np.std([np.corrcoef(layers, values + draw)[0, 1] for draw in noise]))
    middle = atanh(min(abs(value), 0.999)) * np.sign(value) * sign
    half = hypot(float(norm.ppf(0.975)) / sqrt(len(layers) - 3), 2 * spread)
    return Claim(value, 0.0, Estimate(value * sign, tanh(middle - half), tanh(middle + half)), n)


def _ends(array: xr.DataArray) -> str:
    first, last = (float(array.isel(layer=index)) for index in (0, -1))
    return f"{first:.2f} in the first layer, {last:.2f} in the last"


def some_head_above(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """Some head, or layer, is above the limit and `than`, corrected for all that are tried; the highest is named."""
    limit += float(than) if than is not None else 0.0
    q = q_above(array, limit)
    flat = array.stack(index=array.dims).dropna("index")
    if q is None:
        top = flat.isel(index=int(np.argmax(flat.values)))
        return above(of_array(top), limit, n), place_of(top)
    rates = q.stack(index=q.dims).sel(index=flat["index"])
    sure = (rates < RATE).values
    index = int(np.argmax(np.where(sure, flat.values, -np.inf) if sure.any() else flat["upper"].values))
    top = flat.isel(index=index)
    return above(of_array(top), limit, n, q=float(rates[index])), place_of(top)


def most_are_positive(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """More than a share of the numbers are above 0; the bounds count those shown to be, and those that may be."""
    return _share_above(array, q_above(array, 0.0), limit, n)


def most_do_no_harm(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """For more than a share of the heads a loss of 2 points is ruled out (non-inferiority, corrected)."""
    is_share = "metric" in array.coords and array["metric"].item() in SHARES
    return _share_above(_raised(array, HARM), q_no_worse(array, HARM, n, of_answers=is_share), limit, n)


def some_special(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """At least one head is special (1 if so); `than`, the held-out gain of the best heads, may rule it out."""
    flags = array.values == 1
    heads = [dim for dim in array.dims if dim not in ("layer", "head")]
    special = (array == 1).any(heads) if heads else array == 1
    count = int(special.sum())
    may = count + (int((than["upper"] > 0.1).sum()) if than is not None and "upper" in than.coords else array.size)
    names = [head_name(*position) for position in zip(*_positions(special), strict=True)]
    words = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return Claim(count, 0.0, Estimate(count, count if flags.any() else -1.0, may or -1.0), n), words


def no_special(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """No head is special; fails where one is, and holds where the held-out gains exclude it."""
    claim, words = some_special(array, than, limit, n)
    surely, may = claim.difference.lower > 0, claim.difference.upper > 0
    lower, upper = -1.0 if may else 1.0, -1.0 if surely else 1.0
    return Claim(claim.value, 0.0, Estimate((lower + upper) / 2, lower, upper), n), words


def share_of_special(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """More than a share of all special pairs lie in `than`, a part of the same array (Wilson's interval)."""
    total, part = int((array == 1).sum()), int((than == 1).sum()) if than is not None else 0
    if not total:
        return Claim(float("nan"), limit, Estimate(float("nan")), n), ""
    bounds = binomtest(part, total).proportion_ci(method="wilson")
    return above(Estimate(part / total, bounds.low, bounds.high), limit, n), f"{part} of {total} pairs"


def _share_above(array: xr.DataArray, q: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The share of numbers above 0: at least those that surely are (`q`), at most all that are not surely below."""
    there = array.notnull()
    shares = [
        float((flags & there).sum() / there.sum()) - limit for flags in (array > 0, *_sure_and_possible(array, q))
    ]
    return Claim(shares[0] + limit, limit, Estimate(*shares), n), f"of {int(there.sum())}"


def _sure_and_possible(array: xr.DataArray, q: xr.DataArray | None) -> list[xr.DataArray]:
    below = q_above(-array, 0.0)
    # A number without an interval is neither surely above nor surely below.
    return [] if q is None or below is None else [q < RATE, ~(below < RATE)]


def _raised(array: xr.DataArray, by: float) -> xr.DataArray:
    raised = array.drop_vars([name for name in ("lower", "upper") if name in array.coords]) + by
    return raised.assign_coords({name: array[name] + by for name in ("lower", "upper") if name in array.coords})


def _positions(array: xr.DataArray) -> list[list[int]]:
    indices = np.argwhere(array.transpose("layer", "head").values)
    return [array[dim].values[indices[:, axis]].tolist() for axis, dim in enumerate(("layer", "head"))]

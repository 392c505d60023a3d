"""Rules over layers: two layers above a limit, a rise or a fall, an order, a peak.

Their error is mostly that of few layers.
"""

from itertools import permutations
from math import atanh, hypot, sqrt, tanh

import numpy as np
import xarray as xr
from scipy.stats import norm, rankdata

from headscope.errors import HeadscopeError
from headscope.report.claims import Claim, above, apart
from headscope.report.wording import Estimate, of_array
from headscope.statistics.interval_tests import standard_error
from headscope.statistics.significance import RATE

LONGEST_ORDER = 8
DRAWS = 500


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

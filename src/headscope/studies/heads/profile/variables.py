"""Variables of a profile that no measure has: the classes of frequency of a corpus, and of a model's predictions."""

import numpy as np
import xarray as xr

from headscope.encoding.frequencies import Frequencies
from headscope.results.variables import Variables
from headscope.results.vocabulary import FREQUENCIES
from headscope.studies.heads.profile import STUDY


def frequency_variables(
    frequencies: Frequencies, kind: str = "frequency", read: Frequencies | None = None
) -> dict[str, xr.DataArray]:
    """The share of the tokens in each class, and the smallest count of its pieces; NaN for a class without any.

    * `kind`: "frequency" in the corpus, or "predicted"; `read`: of a list, the counts of the corpus that is read.
    """
    used = np.flatnonzero(frequencies.classes >= 0)
    number, tokens = frequencies.classes[used], frequencies.tokens[used]
    if read is not None:
        tokens = np.bincount(frequencies.counts[: len(read.counts)], read.counts, len(frequencies.classes))[used]
    counts = used.astype(float) if frequencies.listed is None else frequencies.listed[used]
    share = np.bincount(number, tokens, len(FREQUENCIES)) / max(1, tokens.sum())
    least = [counts[number == index].min(initial=np.inf) for index in range(len(FREQUENCIES))]
    variables = Variables({"frequency": FREQUENCIES}, STUDY.source, STUDY.labels)
    variables.add(f"{kind}_share", share)
    variables.add(f"{kind}_least", np.where(share > 0, least, np.nan))
    return variables.arrays

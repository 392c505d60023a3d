"""Variables of a profile that no measure has: the classes of frequency of a corpus, and of a model's predictions."""

import numpy as np
import xarray as xr

from headscope.encoding.frequencies import Frequencies
from headscope.results.variables import Label, Variables
from headscope.results.vocabulary import FREQUENCIES

LABELS = {
    "frequency_share": Label("share of the counted tokens in each class of frequency", "share", ("frequency",)),
    "frequency_least": Label("smallest count of a piece in each class of frequency", "tokens", ("frequency",)),
    "predicted_share": Label("share of the counted tokens in each class of predictions", "share", ("frequency",)),
    "predicted_least": Label("fewest predictions of a piece in each class", "predictions", ("frequency",)),
}


def frequency_variables(frequencies: Frequencies, of: str = "frequency") -> dict[str, xr.DataArray]:
    """The share of the tokens in each class, and the smallest count of its pieces; NaN for a class without any.

    * `of`: "frequency" in the corpus, or "predicted".
    """
    used = np.flatnonzero(frequencies.classes >= 0)
    number, tokens = frequencies.classes[used], frequencies.tokens[used]
    share = np.bincount(number, tokens, len(FREQUENCIES)) / max(1, tokens.sum())
    least = [used[number == one].min(initial=np.iinfo(int).max) for one in range(len(FREQUENCIES))]
    variables = Variables({"frequency": FREQUENCIES}, "the corpus, as the tokenizer divides it", LABELS)
    variables.add(f"{of}_share", share)
    variables.add(f"{of}_least", np.where(share > 0, least, np.nan))
    return variables.arrays

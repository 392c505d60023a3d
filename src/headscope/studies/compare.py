"""Compare models head by head: how alike is their attention, what has changed, and which layers changed most.

Kovaleva et al. 2019, section 4.3 (Figure 5): a model before and after fine-tuning; also epochs or seeds of one.
"""

from typing import Annotated

import xarray as xr
from typer import Option

from headscope.comparisons.padded_similarity import PADDED_TO
from headscope.corpora import Corpus
from headscope.engine import DEFAULTS, Settings
from headscope.engine.compare import compare
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.studies.profile import MEASURES

COMPARISONS = ("similarity", "js_divergence")


def run(
    models: tuple[Model, ...],
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    as_coded: Annotated[
        bool, Option("--as-coded", help="Also the cosine of maps padded to 200 tokens, as the released code has it.")
    ] = False,
) -> xr.Dataset:
    """What sets each later model apart from the first, in one pass; each mean with its 95% interval.

    Raises `HeadscopeError` if the models cannot be compared, or no example fits into them.
    """
    if not as_coded:
        return compare("compare", models, corpus, MEASURES, COMPARISONS, settings)
    for model in models:
        if model.max_tokens < PADDED_TO:
            raise HeadscopeError(
                f"model '{model.name}' reads {model.max_tokens} tokens, the released code pads to {PADDED_TO}; "
                "leave out --as-coded"
            )
    comparisons = (*COMPARISONS, "padded_similarity")
    return compare("compare", models, corpus, MEASURES, comparisons, settings, pad_to=PADDED_TO)

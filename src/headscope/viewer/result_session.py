"""The typical inputs of a result as texts of the viewer: their maps are stored, no model is needed."""

import re

import numpy as np
import xarray as xr

from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.report.atlas import InputTokens, typical_tokens
from headscope.report.cards.model_results import model_of
from headscope.viewer import tiles
from headscope.viewer.session import ViewSession
from headscope.viewer.text_maps import KeptText, TextMaps, identifier
from headscope.viewer.text_tokens import TextTokens, TextWord

# A token that a tokenizer adds, as most of them write it.
SPECIAL = re.compile(r"\[[A-Z]+\]|<[^<> ]+>|<\|[^|]+\|>")


def result_session(result: xr.Dataset, number: int = 0) -> tuple[ViewSession, str]:
    """A session that shows a typical input of a result. Returns: the session, and the identifier of the text.

    * `number`: of the typical input, from 0.

    Raises `HeadscopeError` if the result has no maps of typical inputs.
    """
    inputs = result.sizes.get("typical_input", 0) if "typical_map" in result else 0
    if not 0 <= number < inputs:
        raise HeadscopeError(
            f"the result has maps of {inputs} typical inputs; run the study with examples=3, or give a model and a text"
        )
    typical = typical_tokens(result)[number]
    maps, text = _maps(result.isel(typical_input=number), typical), typical.text
    about = {"name": str(result.attrs["model"]), "layers": len(maps.heads), "heads": list(maps.heads)}
    limits = {"max_tokens": len(maps.text), "can_fill_mask": False, "task_labels": []}
    session = ViewSession((), (), (model_of(result),), stored=(about | limits,))
    session.texts.add(KeptText(text, None, (maps,)))
    return session, identifier(text, None)


def _maps(result: xr.Dataset, typical: InputTokens) -> TextMaps:
    """The maps of one typical input; each row in steps of its own maximum."""
    peaks = result["typical_map_maximum"].transpose("layer", "head").values  # [layer, head]; NaN for a head that is not
    heads = tuple(np.isfinite(peaks).sum(1).tolist())
    stored = result["typical_map"].transpose("layer", "head", "typical_query", "typical_key").values
    length = len(typical.tokens)
    maps = stored[:, :, :length, :length] / tiles.LEVELS * np.nan_to_num(peaks)[..., None, None]
    rows = tiles.quantised(maps.reshape(-1, length))  # [layer * head * query, key]
    return TextMaps(_text(typical), heads, rows.maximum.reshape(maps.shape[:3]), rows.levels.reshape(maps.shape))


def _text(typical: InputTokens) -> TextTokens:
    """The tokens of a stored input; which of them are pieces of a word is not stored."""
    nothing = np.empty((0, 3), dtype=np.int64)
    encoded = Encoded(0, {}, np.zeros(len(typical.tokens), dtype=np.int64), nothing[:, :2], nothing)
    words = tuple(TextWord(token, (index,), None) for index, token in enumerate(typical.tokens))
    special = tuple(SPECIAL.fullmatch(token) is not None for token in typical.raw)
    return TextTokens(encoded, typical.tokens, typical.raw, (0,) * len(typical.tokens), special, words, cut=False)

"""The importance of the tokens of texts of one's own, as labelled arrays."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.front.from_values import as_model
from headscope.models.checkpoint import locate
from headscope.studies.words.attributions.methods import METHODS
from headscope.studies.words.attributions.one_text import TextImportance, text_importance
from headscope.viewer.loading import load_with_head
from headscope.viewer.text_tokens import TextTokens, text_tokens


def importances(
    model: Any, texts: Any, method: str | None = None, *, words: bool = False, tokenizer: Any = None
) -> Iterator[xr.DataArray]:
    """How much each token of a text counts for what the model predicts, one text at a time.

    * `model`: a model, a name or a folder, or a Hugging Face model with `tokenizer`. With a head for classes the class
      it predicts is explained, with one for words the word at the first mask or after the text, without a head the
      representation of the text.
    * `texts`: one text, or a list of texts or of pairs of texts.
    * `method`: a method of the study `attributions`, such as "integrated_gradients"; by default all.
    * `words`: of the words of the text in the place of tokens: the sum over the tokens of each.
    * `tokenizer`: of a Hugging Face model that is given as an object.

    Yields: for each text an array [layer, token], or [attribution, layer, token] of all methods, in float64 and in the
    unit of the method; it is not a number where a text is too long for `flow`. Layers count from 1, that of the input.
    Attributes say what is explained (`target`), what gradients are taken of (`differentiated`), what is predicted
    (`prediction`), and by how much sums of integrated gradients miss its difference (`completeness_error`, by layer).

    Raises `HeadscopeError` for an unknown method, a text that is longer than the model reads or without the mask that a
    model of masked words needs, and a model whose layers cannot be run one by one.

    >>> (tokens,) = importances("minilm", "The cat sat.", method="value_gradient")
    >>> tokens.dims, tokens["token"].values.tolist()
    (('layer', 'token'), ['[CLS]', 'the', 'cat', 'sat', '.', '[SEP]'])
    """
    is_name = isinstance(model, str | os.PathLike)
    loaded = load_with_head(locate(str(model))) if is_name else as_model(model, tokenizer)
    for text in [texts] if isinstance(texts, str) else texts:
        read = text_tokens(loaded.tokenizer, loaded.max_tokens, *((text,) if isinstance(text, str) else text))
        importance = text_importance(loaded, read.encoded, METHODS if method is None else (method,))
        array = _labelled(importance, read, words)
        yield array if method is None else array.sel(attribution=method)


def _labelled(importance: TextImportance, text: TextTokens, words: bool) -> xr.DataArray:
    units = [word.tokens for word in text.words] if words else [(token,) for token in range(len(text))]
    names = [word.text for word in text.words] if words else [*text.tokens]
    values = np.stack([importance.tokens[..., list(unit)].sum(-1) for unit in units], axis=-1)
    coords = {"attribution": [*METHODS], "layer": np.arange(1, values.shape[1] + 1), "token": names}
    target = importance.target
    named = {"target": target.name, "differentiated": target.differentiated, "prediction": importance.prediction}
    errors = {"completeness_error": importance.errors.tolist()} if np.isfinite(importance.errors).all() else {}
    return xr.DataArray(values, coords, [*coords], "importance", {"long_name": "importance"} | named | errors)

"""The attention of all heads on texts of one's own, as labelled arrays."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope import corpora
from headscope.encoding.block_parts import SPECIAL, members
from headscope.encoding.encoded import Encoded, special_names
from headscope.encoding.encoder import Words
from headscope.encoding.word_tokens import readable_tokens
from headscope.errors import HeadscopeError
from headscope.front.from_values import as_model
from headscope.models import Model
from headscope.passes.attention_maps import maps_of_inputs
from headscope.passes.batches import collator

MOST_BYTES = 4 << 30


def attentions(model: Any, texts: Any, *, words: bool = False, tokenizer: Any = None) -> Iterator[xr.DataArray]:
    """The attention of all heads on each text, one text at a time: an array is made when it is asked for.

    * `model`: a model, a name or a folder, or a Hugging Face model with `tokenizer`.
    * `texts`: one text, a list of texts or of pairs of texts, or whatever `headscope.read` reads.
    * `words`: attention between the words of a treebank in the place of tokens: to a word the sum over its tokens, from
      a word the mean over them (Clark et al. 2019, section 4.1). The first and the last token are words, too.
    * `tokenizer`: of a Hugging Face model that is given as an object.

    Yields: for each text an array [layer, head, query, key] of shares from 0 to 1, in float32. Layers and heads count
    from 1, queries and keys are named by their tokens. It is not a number where a layer has fewer heads, and for a word
    without a token.

    Raises `HeadscopeError` for a text that is longer than the model reads, whose maps take more than 4 GiB, or that has
    no words where these are asked for.

    >>> (attention,) = attentions("minilm", "The cat saw the other cat.")
    >>> attention.dims, attention.sel(layer=3, head=9, query="saw").sum("key").round(3).item()
    (('layer', 'head', 'query', 'key'), 1.0)
    """
    loaded = as_model(model, tokenizer)
    corpus = corpora.read([texts] if isinstance(texts, str) else texts)
    encoder = Words(loaded.tokenizer, loaded.max_tokens, aligned=True)
    for number, (example, parts) in enumerate(encoder.tokenized(corpus), 1):
        if not parts:
            most = loaded.max_tokens
            raise HeadscopeError(f"text {number} has no token, or more than the {most} of the model; cut it")
        encoded = encoder.encoded(0, example, parts[0])
        size = 4 * len(loaded.capture.heads) * max(loaded.capture.heads) * len(encoded) ** 2
        if size > MOST_BYTES:
            raise HeadscopeError(f"text {number}: its maps take {size >> 30} GiB; cut it, or use headscope.profile")
        if words and not example.n_words:
            raise HeadscopeError(f"text {number} has no words; read a treebank, or a corpus with annotate=")
        yield _between_words(loaded, encoded) if words else _between_tokens(loaded, encoded)


def _between_tokens(model: Model, encoded: Encoded) -> xr.DataArray:
    tokens = model.tokenizer.convert_ids_to_tokens(encoded.inputs["input_ids"].tolist())
    names = readable_tokens(model.tokenizer, tokens)
    return _labelled([part[0] for part in maps_of_inputs(model, [encoded])], [*names])


def _between_words(model: Model, encoded: Encoded) -> xr.DataArray:
    assert encoded.example
    tokens = members(collator(model)([encoded]))[0].cpu().numpy()
    forms = [form for sentence in encoded.example.sentences for form in sentence.forms]
    words = [*special_names(model.tokenizer).values(), *forms]
    there = [index for index in range(len(words)) if index >= SPECIAL or tokens[:, index].any()]
    tokens = tokens[:, there]
    with np.errstate(invalid="ignore"):
        sources = (tokens / tokens.sum(0)).T
    maps = [sources @ part[0] @ tokens for part in maps_of_inputs(model, [encoded])]
    return _labelled(maps, [words[index] for index in there])


def _labelled(maps: Sequence[Float[np.ndarray, "head query key"]], names: list[str]) -> xr.DataArray:
    padded = np.full((len(maps), max(map(len, maps)), len(names), len(names)), np.nan, np.float32)
    for layer, part in enumerate(maps):
        padded[layer, : len(part)] = part
    numbers = {dim: np.arange(1, size + 1) for dim, size in zip(("layer", "head"), padded.shape, strict=False)}
    labels = {"long_name": "attention", "units": "share of attention"}
    coords = numbers | {"query": names, "key": names}
    return xr.DataArray(padded, coords, [*coords], "attention", labels)

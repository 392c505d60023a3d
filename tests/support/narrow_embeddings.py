"""An encoder whose embeddings may become narrower."""

from dataclasses import replace

import headscope
from headscope import Settings
from headscope.studies.size.shrink.moments import embedding_basis
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.texts import encode
from models.test_embedding_width import planted
from support.idle_neurons import TEXTS


def may_be_narrower(kind: type, *, fine: bool = False) -> Original:
    """A tiny BERT whose embeddings lie in nine directions; `fine`: whether its layers may differ."""
    model = planted(9, kind)
    inputs = encode(model, tuple(headscope.read(TEXTS[:8])))
    found = original_of(model, inputs, Settings(), fine=fine)
    return replace(found, embeddings=embedding_basis(model, inputs, None))

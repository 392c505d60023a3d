"""The importance of the tokens of one text by all methods, and what the model predicts for it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headscope.encoding.encoded import Encoded
from headscope.encoding.word_tokens import readable_ids
from headscope.errors import HeadscopeError, suggest
from headscope.models import Model
from headscope.passes.batches import collator
from headscope.studies.words.attributions.blanking import blank_token
from headscope.studies.words.attributions.explaining_pass import explainer
from headscope.studies.words.attributions.methods import FLOW_TOKENS, METHODS, SLOW
from headscope.studies.words.attributions.targets import Target, target_of

# A layer's maps of all heads, with their gradients, are in memory at a time.
MAPS, MOST_BYTES = 8, 4 << 30


@dataclass(frozen=True)
class TextImportance:
    """The importance of the tokens of a text.

    * `tokens`: NaN for methods that were not taken.
    * `target`: what is explained; `prediction`: what the model predicts, "" for a representation.
    * `errors`: of the sums of integrated gradients; NaN where they were not taken.
    """

    tokens: Float[np.ndarray, "method layer token"]
    target: Target
    prediction: str
    errors: Float[np.ndarray, " layer"]


def text_importance(model: Model, text: Encoded, methods: Collection[str] = METHODS) -> TextImportance:
    """The importance of each token of a text; flow is taken of texts of at most 64 tokens.

    * `methods`: those that are wanted; others are there, too, where they take no longer.

    Raises `HeadscopeError` for an unknown method, a text without the mask that a model of masked words needs, one whose
    maps take more than 4 GiB, and a model that cannot be explained; see `explainer`.
    """
    for name in methods:
        if name not in METHODS:
            raise HeadscopeError(f"method '{name}' is unknown; {suggest(name, METHODS)}")
    size = 4 * MAPS * max(model.capture.heads) * len(text) ** 2
    if size > MOST_BYTES:
        raise HeadscopeError(f"the text has {len(text):,} tokens: its maps take {size >> 30} GiB; write a shorter one")
    target = target_of(model)
    batch = collator(model)([text])
    position = torch.tensor([_position(model, target, text)], device=model.device)
    wanted = (not set(SLOW).isdisjoint(methods), "flow" in methods and len(text) <= FLOW_TOKENS)
    scored, with_flow = (torch.tensor([is_wanted], device=model.device) for is_wanted in wanted)
    with explainer(model, target, blank_token(model, "mask")) as explain:
        importance = explain.explain(batch, position, scored, with_flow)
    prediction = _prediction(model, target, importance.reference)
    return TextImportance(importance.tokens[0], target, prediction, importance.errors[0])


def _position(model: Model, target: Target, text: Encoded) -> int:
    """The token at which a word is predicted: the first mask, or the last token."""
    if not target.masks:
        return len(text) - 1
    masks = np.flatnonzero(text.inputs["input_ids"] == model.tokenizer.mask_token_id)
    if not len(masks):
        mask = model.tokenizer.mask_token
        raise HeadscopeError(f"the text has no masked word; write {mask} in the text instead of a word")
    return int(masks[0])


def _prediction(model: Model, target: Target, reference: torch.Tensor) -> str:
    """What is predicted, with its probability."""
    best = int(reference[0].argmax())
    if target.kind == "representation":
        return ""
    if target.kind == "number":
        return f"{float(reference[0, 0]):.3g}"
    labels: Any = model.network.config.id2label
    name = labels[best] if target.kind == "class" else readable_ids(model.tokenizer, [best])[0]
    return f"{name} (probability {float(reference[0, best].exp()):.2f})"

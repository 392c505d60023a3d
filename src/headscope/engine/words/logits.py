"""Predictions of words at a few tokens."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.engine.words.few_tokens import Reader, fastest_reader
from headscope.engine.words.inputs import PredictedPieces
from headscope.models import Model
from headscope.models.words_head import refuse_without_words_head


@dataclass
class WordPredictor:
    """Logits of a model over the vocabulary, at chosen tokens.

    * `reader`: computes the logits; at the start the fastest one that equals the whole model.

    Raises `HeadscopeError` for a model without a head for words.
    """

    model: Model
    reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        refuse_without_words_head(self.model)
        self.reader = fastest_reader(self.model)

    @torch.inference_mode()
    def logits(self, part: PredictedPieces) -> Float[Tensor, "read piece"]:
        """Logits at each read; who uses them refuses those that are not finite."""
        device = self.model.device
        logits = self.reader(*(torch.from_numpy(each).to(device) for each in (part.ids, part.row, part.place)))
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

"""Losses of the next word with KV heads that forget, and the attention of each KV head that lies far back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.models import Model
from headscope.outputs.losses import log_probabilities, refuse_non_finite
from headscope.outputs.words.few_tokens import by_head
from headscope.outputs.words.inputs import ScoredPieces, causal_predictions
from headscope.passes.settings import Settings
from headscope.studies.size.kv.forgetting import Forgets, KeptKeys, KeyHeads, Way


@dataclass(frozen=True)
class Reader:
    """Reads texts with KV heads that forget; each text is one step of the settings' progress."""

    model: Model
    way: Way
    kept: KeptKeys
    settings: Settings

    @torch.inference_mode()
    def scores(self, texts: Sequence[ScoredPieces], forgets: Forgets) -> Float[np.ndarray, "text 2"]:
        """The mean loss in nats of each text's scored pieces, and the share that is predicted right.

        Raises `HeadscopeError` for a loss that is not finite.
        """
        sums = np.zeros((len(texts), 2))
        for group in causal_predictions(texts):
            for part in group.batches(self.settings.batch_tokens):
                body, first = self.way(forgets, self.kept), 0
                for logits in by_head(self.model, part, lambda states, now=part: states[now.row, now.token], body):
                    reads = part.reads(first, first + len(logits))
                    read, target = (torch.from_numpy(ids).to(logits.device) for ids in (reads.read, reads.target))
                    losses, right = -log_probabilities(logits[read], target), logits.argmax(-1)[read] == target
                    refuse_non_finite(self.model.name, losses)
                    np.add.at(sums, reads.text, torch.stack([losses, right], dim=1).double().cpu().numpy())
                    first += len(logits)
        self.settings.on_progress(len(texts))
        return sums / np.array([[len(text.places)] for text in texts])

    @torch.inference_mode()
    def far_attention(self, texts: Sequence[ScoredPieces], heads: KeyHeads) -> Float[np.ndarray, "layer key_head"]:
        """The attention of each KV head beyond what it would keep: the mean over its query heads and all tokens."""
        base = replace(self.model, network=self.model.network.base_model)
        sums, tokens = np.zeros((len(heads.number), max(self.model.capture.heads))), 0

        def add(layer: int, attention: Tensor, examples: slice, queries: slice, entropy: Any, chosen: slice) -> None:
            beyond = ~self.kept.seen(queries, attention.shape[-1], attention.device)
            sums[layer, chosen] += (attention * beyond).sum((0, 2, 3)).double().cpu().numpy()

        with base.observed(add):
            for group in causal_predictions(texts):
                for part in group.batches(self.settings.batch_tokens):
                    base.network(**part.inputs(base.device, base.network.dtype))
                    tokens += part.ids.size
        far = np.full(heads.none.shape, np.nan)
        for layer, (number, queries) in enumerate(zip(heads.number, self.model.capture.heads, strict=True)):
            far[layer, :number] = sums[layer, :queries].reshape(number, -1).mean(1) / tokens
        return far

"""Losses of the next word with KV heads that forget, and the attention of each KV head that lies far back."""

from collections.abc import Generator, Sequence
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
from headscope.passes.accumulators import listed
from headscope.passes.coverage import Coverage
from headscope.passes.provenance import of_machine
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import Settings
from headscope.passes.shards import ReadShards
from headscope.storage.hashes import Fingerprint, hash_of
from headscope.studies.size.kv.forgetting import Forgets, KeptKeys, KeyHeads, Way

Scores = Float[np.ndarray, "text 2"]
Part = ReadShards[list[Scores]]
FOLD = listed(np.ndarray)


@dataclass(frozen=True)
class Reader:
    """Reads texts with KV heads that forget; each text is one step of the settings' progress."""

    model: Model
    way: Way
    kept: KeptKeys
    settings: Settings

    def scores(self, texts: Sequence[ScoredPieces], forgets: Forgets) -> Scores:
        """The mean loss in nats of each text's scored pieces, and the share that is predicted right.

        The journal of the settings keeps those that are done.

        Raises `HeadscopeError` for a loss that is not finite.
        """
        settings = replace(self.settings, keep_interrupted=False)
        return np.concatenate(read_parts(TextShards(self, texts, forgets), FOLD, settings)[0].state)

    @torch.inference_mode()
    def score(self, texts: Sequence[ScoredPieces], forgets: Forgets) -> Scores:
        """As `scores`, at once."""
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


@dataclass(frozen=True)
class TextShards:
    """The scores of texts with some KV heads that forget, a batch of texts after the other."""

    reader: Reader
    texts: Sequence[ScoredPieces]
    forgets: Forgets

    def fingerprint(self) -> Fingerprint:
        """The texts, what forgets, and the machine."""
        settings, texts = self.reader.settings, [text.ids for text in self.texts]
        return of_machine(self.reader.model, settings) | {
            "texts": hash_of(ids.tobytes() for ids in texts),
            "forgets": hash_of([self.forgets.tobytes()]),
            "batch_tokens": settings.batch_tokens,
        }

    def parts(self, done: Part) -> Generator[Part]:
        """The batches after those that are done."""
        settings, longest = self.reader.settings, max(len(text.ids) for text in self.texts)
        size = max(1, settings.batch_tokens // longest)
        settings.on_progress(done.coverage.inputs)
        for first in range(done.shards * size, len(self.texts), size):
            texts = self.texts[first : first + size]
            scores = self.reader.score(texts, self.forgets)
            settings.on_progress(len(texts))
            yield ReadShards([scores], 1, Coverage(len(texts), sum(len(text.ids) for text in texts)))

    def unfinished(self) -> None:
        """Nothing: a batch is scored whole or not at all."""

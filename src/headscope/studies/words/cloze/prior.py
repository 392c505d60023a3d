"""Log-probabilities of pieces without context: a baseline that knows words but no sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope import corpora
from headscope.corpora.suites import Candidate
from headscope.corpora.suites.item import sentence
from headscope.linguistics.sentence import segment_text
from headscope.models.prediction_heads import is_causal
from headscope.outputs.words.inputs import scored_pieces
from headscope.outputs.words.predictor import TextScores, WordPredictor


@dataclass(frozen=True)
class Prior:
    """Log-probabilities of all pieces, in nats, and the model whose pieces they are."""

    predictor: WordPredictor
    log_probabilities: Float[Tensor, " piece"]

    def text_scores(self, candidates: Sequence[Candidate], plain: bool) -> TextScores:
        """The sum over the scored pieces of each text; the same pieces in another order have the same sum."""
        texts = list(scored_pieces(self.predictor.model, candidates, plain=plain))
        most, known = self.predictor.model.max_tokens, self.log_probabilities.double().cpu().numpy()
        fits = [len(text.ids) <= most and len(text.places) > 0 for text in texts]
        values = [
            math.fsum(known[text.ids[text.places]]) if fit else math.nan for text, fit in zip(texts, fits, strict=True)
        ]
        pieces = [len(text.places) if fit else -1 for text, fit in zip(texts, fits, strict=True)]
        return TextScores(np.array(values), np.array(pieces, int), np.array([len(text.ids) for text in texts], int))


def prior(predictor: WordPredictor, corpus: str | None = None) -> Prior:
    """The frequencies of pieces in a corpus, plus one; without a corpus the model's prediction for a text of one mask.

    A causal model predicts the first piece of a text; one that reads nothing before it gives all pieces the same.
    """
    model = predictor.model
    if corpus is None:
        return Prior(predictor, _alone(predictor))
    counts = np.ones(_size(predictor))
    for example in corpora.read(corpus):
        for segment in example.segments:
            ids = model.tokenizer(segment_text(segment), add_special_tokens=False, verbose=False)["input_ids"]
            np.add.at(counts, np.array(ids, int), 1)
    return Prior(predictor, torch.from_numpy(np.log(counts / counts.sum())).float().to(model.device))


def _alone(predictor: WordPredictor) -> Float[Tensor, " piece"]:
    """The prediction for one mask, or for the first piece of a text."""
    model, mask = predictor.model, predictor.model.tokenizer.mask_token
    causal = is_causal(model)
    (text,) = scored_pieces(model, [sentence("a" if causal else str(mask))])
    token = (text.places if causal else np.flatnonzero(text.ids == model.tokenizer.mask_token_id))[:1]
    if not len(token):
        return torch.full((_size(predictor),), -math.log(_size(predictor)), device=model.device)
    (part,) = predictor.inputs([replace(text, places=token, units=token)])
    ((_, logits),) = predictor.logits(part)
    return logits[0] - logits[0].logsumexp(-1)


def _size(predictor: WordPredictor) -> int:
    return int(predictor.model.network.get_input_embeddings().weight.shape[0])  # type: ignore[union-attr]

"""Predictions of words at a few tokens, and log-probabilities of texts.

These are the pseudo-log-likelihood of masked models, and the log-likelihood of causal ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.self_check import CLOSE
from headscope.corpora.suites import Candidate
from headscope.models import Model
from headscope.models.prediction_heads import is_causal, refuse_without_words_head
from headscope.models.segment_ids import NAME
from headscope.outputs.losses import refuse_non_finite, wide
from headscope.outputs.words.few_tokens import Reader, fastest_reader, last_pieces
from headscope.outputs.words.inputs import (
    PredictedPieces,
    ScoredPieces,
    causal_predictions,
    masked_predictions,
    scored_pieces,
)
from headscope.outputs.words.prefix_trees import tree_predictions
from headscope.passes.settings import DEFAULTS, Settings

Inputs = Callable[[Sequence[ScoredPieces]], Iterator[PredictedPieces]]
# Texts whose inputs are sorted by length together.
WINDOW = 2048


# Texts that share a prefix, and their scored places.
TRIAL = [(np.array(ids), np.arange(1, len(ids))) for ids in ([0, 1, 2, 3], [0, 1, 4], [0, 1, 2, 5, 1], [2, 2, 3, 4])]


@dataclass
class WordPredictor:
    """Predictions of words by a model, at chosen tokens.

    * `reader`: computes the logits; at the start the fastest one that equals the whole model.
    * `inputs`: makes the inputs that score texts; for a causal model prefix trees, if it reads them as single texts.

    Raises `HeadscopeError` for a model without a head for words.
    """

    model: Model
    reader: Reader = field(init=False)
    inputs: Inputs = field(init=False)

    def __post_init__(self) -> None:
        refuse_without_words_head(self.model)
        self.reader = fastest_reader(self.model)
        if is_causal(self.model):
            self.inputs = tree_predictions if self._reads_trees() else causal_predictions
        else:
            self.inputs = lambda texts: masked_predictions(texts, int(self.model.tokenizer.mask_token_id))  # type: ignore[arg-type]

    @torch.inference_mode()
    def logits(self, part: PredictedPieces) -> Iterator[tuple[PredictedPieces, Float[Tensor, "read piece"]]]:
        """The reads, a few at a time, with the logits at each; the caller refuses those that are not finite."""
        first = 0
        for logits in self.reader(part):
            yield part.reads(first, first + len(logits)), wide(logits)
            first += len(logits)

    def log_probabilities(self, part: PredictedPieces) -> Float[np.ndarray, " prediction"]:
        """The log-probability of each prediction's target, in nats. Raises `HeadscopeError` if one is not finite."""
        values = []
        for reads, logits in self.logits(part):
            read, target = (torch.from_numpy(numbers).to(logits.device) for numbers in (reads.read, reads.target))
            values.append(logits[read, target] - logits.logsumexp(-1)[read])
            refuse_non_finite(self.model.name, values[-1])
        return torch.cat(values).double().cpu().numpy()

    def _reads_trees(self) -> bool:
        """Whether texts score the same in a prefix tree as each by itself; not with segment ids, which trees lack."""
        if NAME in self.model.tokenizer.model_input_names:
            return False
        pieces = last_pieces(self.model, 6)
        texts = [ScoredPieces(pieces[ids], positions, positions) for ids, positions in TRIAL]
        single, tree = np.zeros(len(texts)), np.zeros(len(texts))
        try:
            for scores, inputs in ((single, causal_predictions), (tree, tree_predictions)):
                for part in inputs(texts):
                    np.add.at(scores, part.text, self.log_probabilities(part))
        except Exception:  # some models take no mask like this, and raise whatever they like
            return False
        return bool(np.abs(tree - single).max() <= CLOSE[self.model.network.dtype] * max(1.0, np.abs(single).max()))


class TextScores(NamedTuple):
    """Scores of texts.

    * `values`: the sum of the log-probabilities of the scored pieces, in nats; NaN for a text that is too long for the
      model, or has no scored piece.
    * `pieces`: the number of scored pieces; 0 where there are none, -1 for a text that is too long.
    * `tokens`: the number of pieces with special ones.
    """

    values: Float[np.ndarray, " text"]
    pieces: Int[np.ndarray, " text"]
    tokens: Int[np.ndarray, " text"]


def text_scores(
    predictor: WordPredictor, candidates: Sequence[Candidate], settings: Settings = DEFAULTS, *, plain: bool = False
) -> TextScores:
    """The score of each text.

    For a masked model each scored piece is predicted under a mask, from the pieces on both sides: the sum is the
    pseudo-log-likelihood (Salazar et al. 2020). Later pieces of the same word are masked too (Kauf and Ivanova 2023,
    PLL-word-l2r), and so are later pieces of an answer; with `plain` each piece of a sentence is masked alone. For a
    causal model each piece is predicted from those before it.
    """
    values, pieces, tokens = np.zeros(len(candidates)), np.zeros(len(candidates), int), np.zeros(len(candidates), int)
    for start in range(0, len(candidates), WINDOW):
        window = candidates[start : start + WINDOW]
        texts = fitting(predictor, list(scored_pieces(predictor.model, window, plain=plain)))
        part = slice(start, start + len(window))
        tokens[part] = [len(text.ids) for text in texts]
        pieces[part] = [len(text.places) if len(text.ids) else -1 for text in texts]
        for group in predictor.inputs(texts):
            for batch in group.batches(settings.batch_tokens):
                np.add.at(values[part], batch.text, predictor.log_probabilities(batch))
        settings.on_progress(len(window))
    values[pieces <= 0] = np.nan
    return TextScores(values, pieces, tokens)


def fitting(predictor: WordPredictor, texts: Sequence[ScoredPieces]) -> list[ScoredPieces]:
    """The texts; those too long for the model have no pieces."""
    none = np.zeros(0, int)
    most = predictor.model.max_tokens
    return [text if len(text.ids) <= most else ScoredPieces(none, none, none) for text in texts]

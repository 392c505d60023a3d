"""Log-probabilities of texts: pseudo-log-likelihood of masked models, log-likelihood of causal ones."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from headscope.corpora.suites import Candidate
from headscope.outputs.words.logits import WordPredictor
from headscope.outputs.words.scored_pieces import ScoredPieces, scored_pieces
from headscope.passes.settings import DEFAULTS, Settings

# Texts whose inputs are sorted by length together.
WINDOW = 2048


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

    For a masked model each scored piece is predicted behind a mask, from the pieces on both sides: the sum is the
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
    """The texts, without a piece for those that are too long for the model."""
    none = np.zeros(0, int)
    most = predictor.model.max_tokens
    return [text if len(text.ids) <= most else ScoredPieces(none, none, none) for text in texts]

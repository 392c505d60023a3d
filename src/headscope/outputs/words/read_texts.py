"""The pieces of texts whose prediction is read, and the inputs in which they are predicted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.corpora.suites.item import sentence
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.outputs.words.inputs import (
    PredictedPieces,
    ScoredPieces,
    causal_predictions,
    masked_predictions,
    scored_pieces,
)

# Of a text that a masked model reads, this many pieces are masked, each in a copy of its own.
OF_TEXT = 4


@dataclass(frozen=True)
class ReadTexts:
    """Texts with the pieces that are predicted.

    * `texts`: pieces of each; `units`: the number of what each is resampled with.
    * `examples`: those of the corpus; none of the gaps of a suite.
    * `left_out`: counts of texts that are too long, or without a piece.
    """

    texts: Sequence[ScoredPieces]
    units: Int[np.ndarray, " text"]
    left_out: Counter[str] = field(default_factory=Counter)
    examples: Sequence[Example] = ()

    def parts(self, model: Model, batch_tokens: int) -> Iterator[PredictedPieces]:
        """The inputs in batches; a masked model reads a copy for each piece, in which it alone is masked."""
        if is_causal(model):
            groups = causal_predictions(self.texts)
        else:
            groups = masked_predictions(self.texts, int(model.tokenizer.mask_token_id))  # type: ignore[arg-type]
        for group in groups:
            yield from group.batches(batch_tokens)

    def first(self, pieces: int) -> "ReadTexts":
        """The first texts with at most this many pieces together; at least one text unless `pieces` is 0."""
        ends = np.cumsum([len(text.places) for text in self.texts])
        number = max(int(np.searchsorted(ends, pieces, side="right")), int(pieces > 0))
        return replace(self, texts=self.texts[:number], units=self.units[:number])

    @property
    def most_frequent(self) -> int | None:
        """The piece that is to be predicted most often, of several the lowest number; None without texts."""
        targets = [text.ids[text.places] for text in self.texts]
        return int(np.bincount(np.concatenate(targets)).argmax()) if targets else None

    @property
    def pieces(self) -> int:
        """The number of predicted pieces."""
        return sum(len(text.places) for text in self.texts)


def chosen_texts(
    model: Model,
    examples: Sequence[Example],
    units: Int[np.ndarray, " text"],
    most: int,
    random: np.random.Generator,
    most_masked: int = OF_TEXT,
) -> ReadTexts:
    """Texts with at most `most` pieces to predict, with the number of the unit of each text.

    A masked model predicts at most `most_masked` pieces of a text. Texts too long or without a piece are counted.
    """
    kept, numbers, left_out, predicted = list[ScoredPieces](), list[int](), Counter[str](), 0
    for start in range(0, len(examples), 256):
        window = range(start, min(start + 256, len(examples)))
        texts = [sentence(segment_text(examples[number].first)) for number in window]
        for text, number in zip(scored_pieces(model, texts), window, strict=True):
            text = _in_vocabulary(text, model.tokenizer.unk_token_id, left_out)
            if len(text.ids) > model.max_tokens:
                left_out["too long"] += 1
            elif not len(text.places):
                left_out["no piece"] += 1
            elif predicted < most:
                kept.append(_some(text, model, most - predicted, random, most_masked))
                numbers.append(number)
                predicted += len(kept[-1].places)
        if predicted >= most:
            break
    return ReadTexts(kept, units[numbers], +left_out, [examples[number] for number in numbers])


def _in_vocabulary(text: ScoredPieces, unknown: Any, left_out: Counter[str]) -> ScoredPieces:
    """A text without predictions of pieces that the vocabulary lacks, which are counted."""
    there = text.places[text.ids[text.places] != unknown]
    left_out["pieces that the vocabulary lacks"] += len(text.places) - len(there)
    return replace(text, places=there, units=there)


def _some(text: ScoredPieces, model: Model, most: int, random: np.random.Generator, most_masked: int) -> ScoredPieces:
    """A text with some of its pieces to predict: of a causal model all, in order."""
    number = min(most, len(text.places) if is_causal(model) else most_masked)
    positions = text.places[:number]
    if not is_causal(model):
        positions = np.sort(random.permutation(text.places)[:number])
    return replace(text, places=positions, units=positions)

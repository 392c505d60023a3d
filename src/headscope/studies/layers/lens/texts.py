"""The pieces of a corpus whose prediction is read, and the inputs in which they are predicted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.corpora import Corpus
from headscope.corpora.suites.item import sentence
from headscope.encoding.encoded import pieces
from headscope.encoding.parsed_sentences import every_fifth
from headscope.encoding.word_tokens import readable_ids
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
from headscope.studies.layers.lens.predictions import LayerPredictions

# Of a text that a masked model reads, this many pieces are masked, each in a copy of its own.
OF_TEXT = 4
MOST_EXAMPLES, AROUND = 8, 7  # examples, and pieces before and after a gap


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


def split_texts(
    model: Model, corpus: Corpus, most: int, seed: int, most_masked: int = OF_TEXT
) -> tuple[ReadTexts, ReadTexts]:
    """Texts to fit maps on, and texts to report: every fifth document (or text), each with at most `most` pieces.

    Of fewer than five texts the last one is reported. A masked model predicts at most `most_masked` pieces of a text.
    """
    kept, apart = every_fifth(list(corpus.units), corpus.by_document)
    kept, apart = (kept, apart) if apart else (kept[:-1], kept[-1:])
    random, examples = np.random.default_rng(seed), list(corpus)
    found = []
    for numbers in (kept, apart):
        order = random.permutation(np.array(list(numbers), int))
        texts = [examples[number] for number in order]
        found.append(_chosen(model, texts, np.array(corpus.units)[order], most, random, most_masked))
    return found[0], found[1]


def _chosen(
    model: Model,
    examples: Sequence[Example],
    units: Int[np.ndarray, " text"],
    most: int,
    random: np.random.Generator,
    most_masked: int,
) -> ReadTexts:
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


def classes_of_predictions(model: Model, texts: ReadTexts, predictions: LayerPredictions) -> list[str]:
    """The class that the corpus gives the word of each predicted piece, "" for none."""
    named = list[dict[int, str]]()
    for example, text in zip(texts.examples, texts.texts, strict=True):
        encoding: Any = model.tokenizer(segment_text(example.first), verbose=False).encodings[0]  # type: ignore[index]
        before = len(text.ids) - len(encoding.ids) - is_causal(model)
        classes = [name for part in example.first for name in part.classes or [""] * len(part.words)]
        rows = pieces(replace(example, second=()), encoding).tolist()
        named.append({token + before: classes[word] for word, token in rows})
    return [
        named[text].get(token, "")
        for text, token in zip(predictions.text.tolist(), predictions.token.tolist(), strict=True)
    ]


def late_examples(model: Model, texts: ReadTexts, predictions: LayerPredictions, lens: int = 0) -> list[dict]:
    """Right predictions that are settled last, the most probable first, one of each text.

    Returns: of each the text before and after the gap, the right piece, and by space the predicted piece and its
    probability.
    """
    settling, right = predictions.settling[lens], predictions.right[lens, -1] == 1
    order = np.lexsort((-predictions.top_probability[lens, -1], -settling))
    chosen: dict[int, int] = {}
    for number in order[right[order] & (settling[order] > 0)].tolist():
        chosen.setdefault(int(predictions.text[number]), number)
    return [_example(model, texts, predictions, lens, number) for number in list(chosen.values())[:MOST_EXAMPLES]]


def _example(model: Model, texts: ReadTexts, predictions: LayerPredictions, lens: int, number: int) -> dict:
    ids = texts.texts[int(predictions.text[number])].ids
    causal = is_causal(model)
    position = int(predictions.token[number]) + causal

    def words(pieces: np.ndarray) -> str:
        return str(model.tokenizer.decode(pieces.tolist(), skip_special_tokens=True)).strip()

    return {
        "before": words(ids[max(0, position - AROUND) : position]),
        "after": "" if causal else words(ids[position + 1 : position + 1 + AROUND]),
        "answer": words(ids[position : position + 1]),
        "settled": int(predictions.settling[lens, number]),
        "pieces": list(readable_ids(model.tokenizer, predictions.top[lens, :, number].tolist())),
        "probabilities": [round(float(value), 4) for value in predictions.top_probability[lens, :, number]],
    }

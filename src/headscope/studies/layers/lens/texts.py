"""The texts of a corpus on which maps are fitted, and those that are reported; classes and examples of predictions."""

from dataclasses import replace
from typing import Any

import numpy as np

from headscope.corpora import Corpus
from headscope.encoding.encoded import pieces
from headscope.encoding.parsed_sentences import every_fifth
from headscope.encoding.word_tokens import readable_ids
from headscope.linguistics.sentence import segment_text
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.outputs.words.read_texts import OF_TEXT, ReadTexts, chosen_texts
from headscope.studies.layers.lens.predictions import LayerPredictions

MOST_EXAMPLES, AROUND = 8, 7  # examples, and pieces before and after a gap


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
        found.append(chosen_texts(model, texts, np.array(corpus.units)[order], most, random, most_masked))
    return found[0], found[1]


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

"""Single predictions that are settled late: what each layer would have said."""

import numpy as np

from headscope.encoding.word_tokens import readable_ids
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.studies.layers.lens.predictions import LayerPredictions
from headscope.studies.layers.lens.texts import ReadTexts

MOST_EXAMPLES, AROUND = 8, 7  # examples, and pieces before and after a gap


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

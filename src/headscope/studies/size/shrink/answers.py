"""By how much the answers of a model change, and texts whose answers do."""

from dataclasses import replace
from typing import Any

import numpy as np

from headscope.linguistics.sentence import Example, segment_text
from headscope.passes.settings import Settings
from headscope.studies.size.shrink.scores import Outputs

# So many examples that are answered otherwise are kept, and so many letters of each text.
SHOWN, LETTERS = 10, 200
Rows = list[dict[str, Any]]


def quiet(settings: Settings) -> Settings:
    """The settings without progress."""
    return replace(settings, on_progress=lambda done: None)


def change(before: Outputs, after: Outputs) -> float:
    """Squared change of outputs by their squared distance from their mean: 0 for none, 1 for all that differs.

    >>> change(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]))
    0.5
    """
    size = float(((before - before.mean(0)) ** 2).sum(dtype=np.float64))
    moved = float(((after - before) ** 2).sum(dtype=np.float64))
    return moved / size if size else float(moved > 0)


def text_of(example: Example) -> str:
    """The text of an example, two segments with a bar between them; of a long one its beginning."""
    text = " | ".join(map(segment_text, example.segments))
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"

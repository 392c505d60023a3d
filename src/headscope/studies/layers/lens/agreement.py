"""Items with a gap, read at each layer: is the good answer more probable than the other one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from headscope.corpora.suites import ClozeItem, Suite
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import number_of
from headscope.models import Model
from headscope.outputs.words.inputs import ScoredPieces, scored_pieces
from headscope.studies.layers.lens.predictions import LayerPredictions


@dataclass(frozen=True)
class GapItems:
    """Items whose answers are single pieces in one gap: of each, the texts with the good and with the other answer.

    * `left_out`: counts of other items by reason.
    """

    items: Sequence[ClozeItem]
    texts: Sequence[ScoredPieces]
    left_out: Counter[str] = field(default_factory=Counter)

    def conditions(self) -> dict[str, list[int]]:
        """The numbers of the items of each condition, in the order of their names, after those of all."""
        names = sorted({item.condition for item in self.items} - {""})
        parts = {name: [at for at, item in enumerate(self.items) if item.condition == name] for name in names}
        return {"all": list(range(len(self.items)))} | parts

    def units(self, numbers: Sequence[int]) -> list[int]:
        """What some items are resampled with: all items of a lemma together."""
        return [number_of(self.items[number].lemma) for number in numbers]


def gap_items(model: Model, suite: Suite) -> GapItems:
    """The items of a suite that can be read at each layer.

    Raises `HeadscopeError` if there is none.
    """
    kept, texts, left_out = list[ClozeItem](), list[ScoredPieces](), Counter[str]()
    for item, pair in zip(suite.items, _pairs(model, suite.items), strict=True):
        if pair is None:
            left_out["no pair of single pieces in a gap"] += 1
        elif max(len(text.ids) for text in pair) > model.max_tokens:
            left_out["too long"] += 1
        else:
            kept.append(item)
            texts += pair
    if not kept:
        raise HeadscopeError(
            f"suite '{suite.name}' has no item whose two answers are single pieces in one gap; use another suite"
        )
    return GapItems(kept, texts, left_out)


def _pairs(model: Model, items: Sequence[ClozeItem]) -> Iterator[list[ScoredPieces] | None]:
    """The texts with the good and the first other answer; None for an item without a gap, or of several pieces."""
    candidates = [candidate for item in items for candidate in item.candidates[:2]]
    scored = scored_pieces(model, candidates)
    for item in items:
        pair = [next(scored) for _ in item.candidates[:2]]
        gaps = len(pair) == 2 and all(candidate.is_answer for candidate in item.candidates[:2])
        yield pair if gaps and all(len(text.places) == 1 for text in pair) else None


def items_won(predictions: LayerPredictions, items: int) -> Float[np.ndarray, "lens space item"]:
    """1 where the good answer has the higher probability, a half where both have the same."""
    order = np.argsort(predictions.text, kind="stable")
    scores = predictions.log_probability[..., order].reshape(*predictions.top.shape[:2], items, 2)
    return (np.sign(scores[..., 0] - scores[..., 1]) + 1) / 2

"""What the prediction at each layer says of the right piece and of the model's own, final prediction."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.corpora.suites import ClozeItem, Suite
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import number_of
from headscope.models import Model
from headscope.outputs.losses import refuse_non_finite
from headscope.outputs.words.few_tokens import reads_together
from headscope.outputs.words.inputs import PredictedPieces, ScoredPieces, scored_pieces
from headscope.studies.layers.lens.reading import AffineMap, LayerReader

LENSES = ("plain", "mapped")


@dataclass(frozen=True)
class LayerPredictions:
    """Predictions of pieces, read at each space by each lens, the states as they are and mapped.

    * `log_probability`: of the right piece, in nats; `divergence`: of the final distribution from it, in nats.
    * `rank`: of the model's final prediction, from 1; `top`: the piece predicted here; `top_probability`: its own.
    * `target`: the right piece; `text`: the number of its text; `token`: its place there.
    """

    log_probability: Float[np.ndarray, "lens space prediction"]
    divergence: Float[np.ndarray, "lens space prediction"]
    rank: Int[np.ndarray, "lens space prediction"]
    top: Int[np.ndarray, "lens space prediction"]
    top_probability: Float[np.ndarray, "lens space prediction"]
    target: Int[np.ndarray, " prediction"]
    text: Int[np.ndarray, " prediction"]
    token: Int[np.ndarray, " prediction"]

    def lenses(self, number: int) -> "LayerPredictions":
        """The numbers of the first lenses."""
        by_lens = ("log_probability", "divergence", "rank", "top", "top_probability")
        return replace(self, **{name: getattr(self, name)[:number] for name in by_lens})

    @property
    def right(self) -> Float[np.ndarray, "lens space prediction"]:
        """1 where the predicted piece is the right one."""
        return (self.top == self.target).astype(float)

    @property
    def final_first(self) -> Float[np.ndarray, "lens space prediction"]:
        """1 where the predicted piece is that of the last layer."""
        return (self.top == self.top[:, -1:]).astype(float)

    @property
    def settling(self) -> Int[np.ndarray, "lens prediction"]:
        """The first space from which on every space predicts what the last one does."""
        return settling(self.top)


def settling(top: Int[np.ndarray, "*lens space prediction"]) -> Int[np.ndarray, "*lens prediction"]:
    """The first space from which on the predicted piece is the final one.

    >>> settling(np.array([[7], [3], [7], [7]])).tolist()
    [2]
    """
    same = np.flip(top == top[..., -1:, :], axis=-2)
    return top.shape[-2] - np.cumprod(same, axis=-2).sum(-2)


def layer_predictions(
    reader: LayerReader,
    parts: Iterable[PredictedPieces],
    maps: Sequence[AffineMap],
    done: Callable[[int], None] = lambda predictions: None,
) -> LayerPredictions:
    """Read all predictions of some inputs at each space.

    Raises `HeadscopeError` if the model predicts what is not finite.
    """
    read, together = [], reads_together(reader.model)
    for part in parts:
        states = reader.states(part)
        for first in range(0, len(part.row), together):
            reads = part.reads(first, first + together)
            read.append(_of_reads(reader, reads, states, maps))
            done(len(reads.target))
    joined = {field.name: [getattr(part, field.name) for part in read] for field in fields(LayerPredictions)}
    return LayerPredictions(**{name: np.concatenate(arrays, axis=-1) for name, arrays in joined.items()})


@torch.inference_mode()
def _of_reads(
    reader: LayerReader,
    part: PredictedPieces,
    states: Sequence[Float[Tensor, "row token width"]],
    maps: Sequence[AffineMap],
) -> LayerPredictions:
    """The predictions of a few reads, whose logits are there for one space after the other."""
    final = reader.log_probabilities(part, states[-1])
    refuse_non_finite(reader.model.name, final)
    index, target = (torch.from_numpy(numbers).to(final.device) for numbers in (part.read, part.target))

    def numbers(states: Float[Tensor, "row token width"]) -> dict[str, Tensor]:
        return _numbers(reader.log_probabilities(part, states), final, index, target)

    plain, last = [*map(numbers, states[:-1])], _numbers(final, final, index, target)
    mapped = [numbers(map_(states)) for map_, states in zip(maps, states, strict=False)] or plain
    lenses = ([*plain, last], [*mapped, last])
    arrays = {name: np.stack([[space[name].cpu().numpy() for space in lens] for lens in lenses]) for name in last}
    return LayerPredictions(**arrays, target=part.target, text=part.text, token=part.token[part.read])


def _numbers(
    here: Float[Tensor, "read piece"],
    final: Float[Tensor, "read piece"],
    index: Int[Tensor, " prediction"],
    target: Int[Tensor, " prediction"],
) -> dict[str, Tensor]:
    """The numbers of one space, from log-probabilities; `index` is the read of each prediction."""
    best = here.max(-1)
    final_score = here.gather(-1, final.argmax(-1, keepdim=True))
    of_read = {
        "divergence": (final.exp() * (final - here)).sum(-1).double(),
        "rank": (here > final_score).sum(-1) + 1,
        "top": best.indices,
        "top_probability": best.values.exp().double(),
    }
    return {"log_probability": here[index, target].double()} | {name: values[index] for name, values in of_read.items()}


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

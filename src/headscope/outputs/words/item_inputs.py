"""The items of a suite as inputs of a sweep: masked copies of their texts, and the scores that these add up to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.corpora.suites import ClozeItem
from headscope.encoding.encoded import CLASS, Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import is_causal, refuse_without_words_head
from headscope.outputs.losses import log_normaliser, refuse_non_finite, wide
from headscope.outputs.words.inputs import ScoredPieces, causal_predictions, masked_predictions, scored_pieces
from headscope.passes.batches import collator

Predictions = Float[np.ndarray, "*variant input prediction"]


@dataclass(frozen=True)
class ItemInputs:
    """Inputs without padding, each once, whose predictions score the items of a suite; `left_out` counts other items.

    * `places`, `targets`, `texts`: of each input, the token, the piece and the text of each prediction.
    """

    model: Model
    items: Sequence[ClozeItem]
    inputs: Sequence[Encoded]
    places: Sequence[Int[np.ndarray, " prediction"]]
    targets: Sequence[Int[np.ndarray, " prediction"]]
    texts: Sequence[Int[np.ndarray, " prediction"]]
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def masked_pieces(self) -> list[Int[np.ndarray, " prediction"]]:
        """All that outputs depend on besides the inputs: tokens and pieces of the predictions."""
        return [*self.places, *self.targets]

    @cached_property
    def most(self) -> int:
        """The largest number of predictions of an input."""
        return max(map(len, self.places))

    def batch(self, group: Sequence[Encoded]) -> "PredictionBatch":
        """Some of the inputs as one batch on the model's device."""
        index = [encoded.index for encoded in group]
        device = self.model.device
        positions, targets = (
            _padded([rows[number] for number in index], self.most) for rows in (self.places, self.targets)
        )
        real = np.arange(self.most) < np.array([[len(self.places[number])] for number in index])
        if (positions == positions[:, :1]).all():  # a masked copy has one masked token that is read
            positions = positions[:, :1]
        inputs = collator(self.model)(list(group)).inputs
        return PredictionBatch(
            self.model.name, inputs, *(torch.from_numpy(array).to(device) for array in (positions, targets, real))
        )

    def item_scores(self, predictions: Predictions) -> Float[np.ndarray, "*variant item 2"]:
        """The highest score of the worse texts, and that of the good one, from the log-probabilities of all inputs."""
        counts = np.array([len(item.candidates) for item in self.items])
        scores = np.zeros((*predictions.shape[:-2], counts.sum()))
        real = np.arange(self.most) < np.array([[len(text)] for text in self.texts])
        # [*variant, prediction of an input]
        flat, texts = predictions[..., real].astype(np.float64), np.concatenate(self.texts)
        np.add.at(scores.reshape(-1, counts.sum()).T, texts, flat.reshape(-1, flat.shape[-1]).T)
        first = np.cumsum(counts) - counts
        good = scores[..., first]
        scores[..., first] = -np.inf
        return np.stack([np.maximum.reduceat(scores, first, axis=-1), good], axis=-1)


@dataclass(frozen=True)
class PredictionBatch:
    """Inputs whose predictions are read together; `real`: False for padding.

    * `rows`: the tokens at which pieces are predicted, one for each prediction or one for all.
    """

    model_name: str
    inputs: Mapping[str, Int[Tensor, "example token"]]
    rows: Int[Tensor, "example row"]
    targets: Int[Tensor, "example prediction"]
    real: Bool[Tensor, "example prediction"]

    def outputs(
        self, logits: Float[Tensor, "example token piece"], rows: Int[Tensor, "example row"] | None = None
    ) -> Float[np.ndarray, "example prediction"]:
        """The log-probability of each prediction, in nats, 0 for padding; `HeadscopeError` if not finite."""
        if rows is None:
            logits = logits.gather(1, self.rows[..., None].expand(-1, -1, logits.shape[-1]))
        expanded = logits.expand(-1, self.targets.shape[1], -1)  # [example, prediction, piece]
        values = wide(expanded.gather(-1, self.targets[..., None]))[..., 0] - log_normaliser(logits)
        refuse_non_finite(self.model_name, values)
        return torch.where(self.real, values, 0.0).to(torch.float32).cpu().numpy()


def item_inputs(model: Model, items: Sequence[ClozeItem]) -> ItemInputs:
    """The inputs that score items; see `text_scores`.

    Items without worse texts, and those with a text that is too long or has no scored piece, are left out.

    Raises `HeadscopeError` for a model without a head for words, or if no item is left.
    """
    refuse_without_words_head(model)
    left_out, kept, texts = Counter[str](), list[ClozeItem](), list[ScoredPieces]()
    pieces = iter(scored_pieces(model, [candidate for item in items for candidate in item.candidates]))
    for item in items:
        own = [next(pieces) for _ in item.candidates]
        if reason := _unscored(item, own, model.max_tokens):
            left_out[reason] += 1
        else:
            kept.append(item)
            texts += own
    if not kept:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise HeadscopeError(f"no item of the suite can be scored ({reasons}); name another suite")
    return ItemInputs(model, kept, *_inputs(model, texts), left_out)


def _unscored(item: ClozeItem, texts: list[ScoredPieces], most: int) -> str:
    """Why an item cannot be scored; empty if it can."""
    if not item.bad:
        return "without alternatives"
    if any(len(text.ids) > most for text in texts):
        return "long"
    return "" if all(len(text.places) for text in texts) else "without a scored piece"


def _inputs(model: Model, texts: Sequence[ScoredPieces]) -> tuple[list[Encoded], list, list, list]:
    """Inputs, and the tokens, pieces and texts of their predictions."""
    causal, mask = is_causal(model), model.tokenizer.mask_token_id
    groups = causal_predictions(texts) if causal else masked_predictions(texts, int(mask))  # type: ignore[arg-type]
    inputs, parts = list[Encoded](), ([], [], [])
    for group in groups:
        row = group.row[group.read]
        for number, ids in enumerate(group.ids):
            further = {name: values[number].numpy() for name, values in group.further.items()}
            inputs.append(_encoded(len(inputs), {"input_ids": ids} | further))
            for part, values in zip(parts, (group.token[group.read], group.target, group.text), strict=True):
                part.append(values[row == number])
    return inputs, *parts


def _encoded(index: int, inputs: dict[str, Int[np.ndarray, " token"]]) -> Encoded:
    classes = np.full(len(inputs["input_ids"]), CLASS["other"])
    return Encoded(index, inputs, classes, np.zeros((0, 2), int), np.zeros((0, 3), int))


def _padded(rows: Sequence[np.ndarray], most: int) -> Int[np.ndarray, "row prediction"]:
    """Rows of one length: the first value of each repeated at its end."""
    return np.stack([np.concatenate([row, np.repeat(row[:1], most - len(row))]) for row in rows])

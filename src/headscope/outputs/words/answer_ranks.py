"""Answers of one piece, ranked among all pieces of the vocabulary; answers of several, filled from left to right."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.models import Model
from headscope.outputs.losses import refuse_non_finite
from headscope.outputs.words.inputs import PredictedPieces, ScoredPieces, scored_pieces
from headscope.outputs.words.predictor import WINDOW, WordPredictor, fitting
from headscope.passes.settings import DEFAULTS, Settings

Logits = Float[Tensor, "read piece"]
Answers = Mapping[str, Int[Tensor, " piece"]]


@dataclass(frozen=True)
class AnswerRanks:
    """Ranks of the answers of items.

    * `good`, `other`: log-probability of the answer and of the best other piece, in nats; NaN for an answer that is no
      single piece, or a text that is too long.
    * `rank`: the rank of the answer, from 1; 0 where there is none.
    * `choice`: the most probable piece among the answers of the phenomenon; -1 where there is none.
    * `among`: 1 where the answer is the most probable of the phenomenon's answers (Elazar et al. 2021), else 0.
    * `fill`: 1 where the model writes the answer piece after piece from the left, told how many it has, else 0; NaN
      with a prior.
    * `pieces`: number of pieces of each answer; -1 for a text that is too long, -2 for an unknown answer.
    * `tokens`: number of tokens of each text.
    """

    good: Float[np.ndarray, " item"]
    other: Float[np.ndarray, " item"]
    rank: Int[np.ndarray, " item"]
    choice: Int[np.ndarray, " item"]
    among: Float[np.ndarray, " item"]
    fill: Float[np.ndarray, " item"]
    pieces: Int[np.ndarray, " item"]
    tokens: Int[np.ndarray, " item"]


def answer_ranks(
    predictor: WordPredictor,
    items: Sequence[ClozeItem],
    settings: Settings = DEFAULTS,
    *,
    prior: Tensor | None = None,
    answers: Answers | None = None,
) -> AnswerRanks:
    """The rank of each item's answer among all pieces that are not special; other right answers are left out.

    * `prior`: log-probabilities of all pieces, read in the place of the model's predictions.
    * `answers`: the answers of each phenomenon among which `choice` is made; by default those of the items.
    """
    model, count = predictor.model, len(items)
    integers = {name: np.zeros(count, int) for name in ("rank", "pieces", "tokens")}
    floats = {name: np.full(count, np.nan) for name in ("good", "other", "among", "fill")}
    ranks = AnswerRanks(**floats, choice=np.full(count, -1), **integers)
    answers = answer_pieces(model, items) if answers is None else answers
    for start in range(0, count, WINDOW):
        window = items[start : start + WINDOW]
        texts = fitting(predictor, list(scored_pieces(model, [item.good for item in window])))
        ranks.tokens[start : start + len(window)] = [len(text.ids) for text in texts]
        ranks.pieces[start : start + len(window)] = [_pieces(model, text) for text in texts]
        none = np.zeros(0, int)
        single = [text if _pieces(model, text) == 1 else ScoredPieces(none, none, none) for text in texts]
        others = _others(model, window)
        for group in predictor.inputs(single):
            for batch in group.batches(settings.batch_tokens):
                known = [] if prior is None else [(batch, prior.expand(len(batch.row), -1))]
                for reads, logits in known or predictor.logits(batch):
                    refuse_non_finite(model.name, logits)
                    _rank(ranks, logits, reads, items, start, answers, others)
        if prior is None:
            _fill(ranks, predictor, texts, start, answers[""], settings)
        settings.on_progress(len(window))
    return ranks


def _pieces(model: Model, text: ScoredPieces) -> int:
    """Number of pieces of an answer; -1 for a text that is too long, -2 for an answer that is the unknown piece."""
    if not len(text.ids):
        return -1
    return -2 if text.ids[text.places].tolist() == [model.tokenizer.unk_token_id] else len(text.places)


def _rank(
    ranks: AnswerRanks,
    logits: Logits,
    batch: PredictedPieces,
    items: Sequence[ClozeItem],
    start: int,
    answers: Answers,
    others: Callable[[int], list[int]],
) -> None:
    """Write the ranks of a batch; `start` is the number of the first item of its window."""
    total = logits.logsumexp(-1)
    special = logits.clone()
    special[:, answers[""]] = -torch.inf
    for read, target, text in zip(batch.read.tolist(), batch.target.tolist(), batch.text.tolist(), strict=True):
        row, number = special[read], start + text
        rivals = row.clone()
        rivals[[target, *others(text)]] = -torch.inf
        ranks.good[number] = float(logits[read, target] - total[read])
        ranks.other[number] = float(rivals.max() - total[read])
        ranks.rank[number] = 1 + int((rivals > logits[read, target]).sum())
        candidates = answers[items[number].phenomenon]
        ranks.choice[number] = int(candidates[row[candidates].argmax()])
        ranks.among[number] = float((rivals[candidates] <= logits[read, target]).all())


def _fill(
    ranks: AnswerRanks,
    predictor: WordPredictor,
    texts: Sequence[ScoredPieces],
    start: int,
    special: Int[Tensor, " piece"],
    settings: Settings,
) -> None:
    """Write whether answers are filled from the left; `start` is the number of the first item of the window.

    A piece is read after the right ones before it: a greedy fill gets there if and only if all of these come first.
    """
    part, unknown = slice(start, start + len(texts)), predictor.model.tokenizer.unk_token_id
    single = ranks.rank[part]
    ranks.fill[part] = np.where(single > 0, single == 1, np.nan)
    none = np.zeros(0, int)
    several = [
        text if len(text.places) > 1 and unknown not in text.ids[text.places] else ScoredPieces(none, none, none)
        for text in texts
    ]
    ranks.fill[part][[len(text.places) > 0 for text in several]] = 1
    for group in predictor.inputs(several):
        for batch in group.batches(settings.batch_tokens):
            for reads, logits in predictor.logits(batch):
                refuse_non_finite(predictor.model.name, logits)
                first = logits.index_fill(1, special, -torch.inf).argmax(-1).cpu().numpy()[reads.read] == reads.target
                np.minimum.at(ranks.fill[part], reads.text, first.astype(float))


def answer_pieces(model: Model, items: Sequence[ClozeItem]) -> Answers:
    """The pieces that are answers of each phenomenon, and under "" the special pieces."""
    pieces: dict[str, set[int]] = {"": set(model.tokenizer.all_special_ids)}
    for start in range(0, len(items), WINDOW):
        window = items[start : start + WINDOW]
        for item, text in zip(window, scored_pieces(model, [item.good for item in window]), strict=True):
            pieces.setdefault(item.phenomenon, set()).update(text.ids[text.places[:2]] if len(text.places) == 1 else ())
    return {name: torch.tensor(sorted(ids), device=model.device) for name, ids in pieces.items()}


def _others(model: Model, items: Sequence[ClozeItem]) -> Callable[[int], list[int]]:
    """The single pieces of further right answers, by the number of an item in its window."""
    kept: dict[int, list[int]] = {}

    def others(number: int) -> list[int]:
        item = items[number]
        if number not in kept:
            answers = [filled(item.good.context, answer) for answer in item.other_answers]
            texts = scored_pieces(model, answers) if answers else ()
            kept[number] = [int(text.ids[text.places[0]]) for text in texts if len(text.places) == 1]
        return kept[number]

    return others

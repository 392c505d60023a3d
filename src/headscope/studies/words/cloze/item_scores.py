"""The scores of items, of the good text and of the best of the others, and the file of all items."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from headscope.corpora.suites import ClozeItem
from headscope.outputs.words.answer_ranks import Answers, answer_ranks
from headscope.outputs.words.predictor import WordPredictor, text_scores
from headscope.passes import Settings
from headscope.results.tables import csv_cell
from headscope.storage.files import write_atomically
from headscope.studies.words.cloze.controls import Prior

# Differences below this are rounding, and the texts are equal.
TIE = 1e-5
FILE = "items.csv"
ARRAYS = ("good", "bad", "rank", "choice", "among", "fill", "pieces")
COLUMNS = ("id", "phenomenon", "score_good", "score_bad", "suite", "human")


@dataclass(frozen=True)
class ItemScores:
    """Scores of items, in their order.

    * `good`, `bad`: the score of the good text and the highest of the others, in nats; NaN where one has none.
    * `rank`: the rank of an answer in the vocabulary, from 1; 0 for items with alternatives.
    * `choice`: the piece that is preferred among the answers of a phenomenon; of items with alternatives the number of
      the text that scores highest, the good one being 0; -1 without scores.
    * `tokens`: number of tokens of all texts; `left_out`, `counted`: number of items by reason.
    * `among`, `fill`: see `AnswerRanks`; NaN for items with alternatives.
    * `pieces`: number of pieces of an answer in a gap; 0 for sentences, and without one.
    """

    good: Float[np.ndarray, " item"]
    bad: Float[np.ndarray, " item"]
    rank: Int[np.ndarray, " item"]
    choice: Int[np.ndarray, " item"]
    tokens: int
    left_out: dict[str, int]
    counted: dict[str, int]
    among: Float[np.ndarray, " item"]
    fill: Float[np.ndarray, " item"]
    pieces: Int[np.ndarray, " item"]

    @property
    def correct(self) -> Float[np.ndarray, " item"]:
        """1 where the good text has the higher score, a half where scores are equal; NaN without scores."""
        difference = self.good - self.bad
        right = np.where(np.abs(difference) < TIE, 0.5, (difference > 0).astype(float))
        return np.where(np.isnan(difference), np.nan, right)


def item_scores(
    predictor: WordPredictor,
    items: Sequence[ClozeItem],
    settings: Settings,
    *,
    plain: bool = False,
    prior: Prior | None = None,
    answers: Answers | None = None,
) -> ItemScores:
    """Score items by a model, or by log-probabilities of pieces alone (`prior`); `answers`: see `answer_ranks`."""
    one = _compared(predictor, items, settings, plain, prior)
    other = _ranked(predictor, items, settings, prior, answers)
    ranked = np.array([not item.bad for item in items])
    return ItemScores(
        np.where(ranked, other.good, one.good),
        np.where(ranked, other.bad, one.bad),
        other.rank,
        np.where(ranked, other.choice, one.choice),
        one.tokens + other.tokens,
        Counter(one.left_out) + Counter(other.left_out),
        one.counted,
        other.among,
        other.fill,
        np.where(ranked, other.pieces, one.pieces),
    )


def joined(parts: Sequence[ItemScores]) -> ItemScores:
    """The scores of parts of some items that follow each other."""
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS}
    left_out, counted = (
        sum((Counter(count) for count in counts), Counter[str]())
        for counts in ([part.left_out for part in parts], [part.counted for part in parts])
    )
    return ItemScores(**arrays, tokens=sum(part.tokens for part in parts), left_out=left_out, counted=counted)


def _compared(
    predictor: WordPredictor, items: Sequence[ClozeItem], settings: Settings, plain: bool, prior: Prior | None
) -> ItemScores:
    """Scores of the items that have worse texts; the others are NaN."""
    numbers = [number for number, item in enumerate(items) if item.bad]
    candidates = [candidate for number in numbers for candidate in items[number].candidates]
    if prior is not None:
        scores = prior.text_scores(candidates, plain)
    else:
        scores = text_scores(predictor, candidates, settings, plain=plain)
    good, bad = np.full(len(items), np.nan), np.full(len(items), np.nan)
    choice, counts = np.full(len(items), -1), np.zeros(len(items), int)
    left_out, counted, start = Counter[str](), Counter[str](), 0
    for number in numbers:
        part = slice(start, start + len(items[number].candidates))
        start = part.stop
        values, pieces = scores.values[part], scores.pieces[part]
        if np.isnan(values).any():
            left_out["long" if (pieces < 0).any() else "without a scored piece"] += 1
            continue
        good[number], bad[number], choice[number] = values[0], values[1:].max(), values.argmax()
        counts[number] = pieces[0] if items[number].good.is_answer else 0
        counted["answers of several pieces"] += bool(items[number].good.is_answer and pieces[0] > 1)
    tokens, none = int(scores.tokens.sum()), np.full(len(items), np.nan)
    rank = np.zeros(len(items), int)
    return ItemScores(good, bad, rank, choice, tokens, dict(left_out), dict(+counted), none, none, counts)


def _ranked(
    predictor: WordPredictor,
    items: Sequence[ClozeItem],
    settings: Settings,
    prior: Prior | None,
    answers: Answers | None,
) -> ItemScores:
    """Scores of the items whose answer is ranked in the vocabulary; the others are NaN."""
    numbers = [number for number, item in enumerate(items) if not item.bad]
    values = None if prior is None else prior.log_probabilities
    quiet = settings if prior is None else settings.quiet
    ranked = [items[number] for number in numbers]
    ranks = answer_ranks(predictor, ranked, quiet, prior=values, answers=answers)
    read = {"good": ranks.good, "bad": ranks.other, "among": ranks.among, "fill": ranks.fill}
    counts = {"rank": (0, ranks.rank), "choice": (-1, ranks.choice), "pieces": (0, np.maximum(ranks.pieces, 0))}
    spread = {name: _spread(np.nan, column, numbers, len(items)) for name, column in read.items()}
    spread |= {name: _spread(missing, column, numbers, len(items)) for name, (missing, column) in counts.items()}
    reasons = {-1: "long", 0: "without a scored piece"}
    left_out = Counter(reasons.get(pieces, "answer outside the vocabulary") for pieces in ranks.pieces if pieces != 1)
    return ItemScores(**spread, tokens=int(ranks.tokens.sum()), left_out=left_out, counted={})


def _spread(missing: float, column: np.ndarray, numbers: Sequence[int], items: int) -> np.ndarray:
    """A column of the items with these numbers as one of all items."""
    made = np.full(items, missing, column.dtype)
    made[numbers] = column
    return made


def write_items(
    directory: Path, items: Sequence[ClozeItem], suites: Sequence[str], own: ItemScores, wanted: bool
) -> None:
    """Write the scores of all items; without `wanted` remove those of an earlier run, which had other scores.

    * `suites`: the suite of each item: items of two suites may have the same id.
    """
    if not wanted:
        (directory / FILE).unlink(missing_ok=True)
        return
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item, suite, *scores in zip(items, suites, own.good.tolist(), own.bad.tolist(), strict=True):
        *numbers, human = ("" if np.isnan(score) else f"{score:.6f}" for score in (*scores, item.human))
        writer.writerow(map(csv_cell, [item.id, item.phenomenon, *numbers, suite, human]))
    write_atomically(directory / FILE, content.getvalue())

"""Heads' predictions of antecedents, one bit each, and their scores.

Scores are accuracies with intervals, baselines on the same cases, tests, the best head of one half scored on the other,
and its attention to special tokens from words that are no such mention.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.columns import Columns
from headscope.statistics.significance import better
from headscope.statistics.split_half import BestHead, Selection, best_head
from headscope.studies.heads.coreference.baselines import NAMES, REFERENCES, guesses
from headscope.studies.heads.coreference.cases import KINDS, PRONOUNS, Case, Features

GENDERS = {"male": "masculine", "female": "feminine"}
Draws = UInt8[np.ndarray, "resample unit"]
# Rows of the held-out scores of a best head: the head, the baselines, the head less its reference.
HEAD, BASELINES, ADVANTAGE = 0, list(range(1, 1 + len(NAMES))), 1 + len(NAMES)


@dataclass(frozen=True)
class AntecedentPredictions(Columns):
    """A row for each case, in the order of the corpus; heads of all layers stand in a row.

    * `unit`: what is resampled together; `input`, `position`: of the case in the corpus.
    * `kind`: of the mention; `gender`: masculine, feminine, or "" where a pronoun does not tell.
    * `question`: whether the case is a question of the corpus; `answerable`: whether a candidate is right, and
      `first`: whether the first candidate is.
    * `stereotype`, `pair`: those of a question.
    * `guesses`: whether each of `baselines.NAMES` is right, or how probably.
    * `right`: whether each head points at an antecedent; packed.
    * `toward`: attention of a pronoun to the first candidate; no columns for a corpus without stereotypes.
    * `sink`: attention of the mention's head word to special tokens, `sink_others`: the mean over the words of the
      input that are not such words, NaN without any.
    * `confusion`: of each head, in bits; no columns for a corpus that does not ask itself.
    * `condition`: of a question; `candidates`: how many there are.
    """

    ORDER = ("unit", "input", "position")

    unit: Int[np.ndarray, " case"]
    input: Int[np.ndarray, " case"]
    position: Int[np.ndarray, " case"]
    kind: np.ndarray
    gender: np.ndarray
    question: Bool[np.ndarray, " case"]
    answerable: Bool[np.ndarray, " case"]
    first: Bool[np.ndarray, " case"]
    stereotype: np.ndarray
    pair: np.ndarray
    guesses: Float[np.ndarray, "case baseline"]
    right: UInt8[np.ndarray, "case byte"]
    toward: Float[np.ndarray, "case head_or_none"]
    sink: Float[np.ndarray, "case head"]
    sink_others: Float[np.ndarray, "case head"]
    confusion: Float[np.ndarray, "case confused_or_none"]
    condition: np.ndarray
    candidates: Int[np.ndarray, " case"]

    def unpacked(self, heads: int) -> UInt8[np.ndarray, "case head"]:
        """1 where a head is right."""
        return np.unpackbits(self.right, axis=1, count=heads)

    def by_kind(self) -> Mapping[str, "AntecedentPredictions"]:
        """The cases that have a right answer: "all", and where there are several kinds of mentions those of each."""
        cases = self[self.answerable]
        kinds = [kind for kind in KINDS if (cases.kind == kind).any()]
        return {"all": cases} | {kind: cases[cases.kind == kind] for kind in kinds if kinds[1:]}


def predictions(
    cases: Sequence[Case],
    numbers: Int[np.ndarray, "case 2"],
    right: Bool[np.ndarray, "case head"],
    toward: Float[np.ndarray, "case head"],
    sinks: Float[np.ndarray, "case head 2"],
    confusion: Float[np.ndarray, "case head"],
) -> AntecedentPredictions:
    """The rows of some cases; `numbers` are of their inputs, and of the cases in these."""
    questions = [case.question for case in cases]
    return AntecedentPredictions(
        unit=np.array([case.unit for case in cases], dtype=np.int64),
        input=numbers[:, 0],
        position=numbers[:, 1],
        kind=_words(case.mention.kind for case in cases),
        gender=_words(gender(case.mention.head) for case in cases),
        question=np.array([question is not None for question in questions], dtype=bool),
        answerable=np.array([bool(case.right) for case in cases], dtype=bool),
        first=np.array([case.candidates[0].word in case.right for case in cases], dtype=bool),
        stereotype=_words(question.stereotype if question else "" for question in questions),
        pair=_words(question.pair if question else "" for question in questions),
        # [case, reference]
        guesses=np.array([guesses(case) for case in cases], dtype=np.float64).reshape(len(cases), len(NAMES)),
        right=np.packbits(right, axis=1),
        toward=toward,
        sink=sinks[..., 0].astype(np.float16),
        sink_others=sinks[..., 1].astype(np.float16),
        confusion=confusion,
        condition=_words(question.condition if question else "" for question in questions),
        candidates=np.array([len({candidate.word for candidate in case.candidates}) for case in cases], dtype=np.int64),
    )


def gender(pronoun: str) -> str:
    """The gender of a pronoun in lower case.

    >>> gender("hers"), gender("them")
    ('feminine', '')
    """
    return GENDERS.get(PRONOUNS.get(pronoun, Features()).gender or "", "")


def _words(values: Iterable[str]) -> np.ndarray:
    return np.array(list(values), dtype=str)


@dataclass(frozen=True)
class MentionScore:
    """Scores of all heads for one kind of mentions.

    * `accuracy`: tally of the cases that each head gets right, heads of all layers in a row.
    * `baselines`: tally of the cases that each of `baselines.NAMES` gets right.
    * `reference`: number of the better one of `REFERENCES`; `p`: p-value that a head is no better than it, the larger
      of McNemar's exact test and of a t test over documents.
    """

    accuracy: Tally
    baselines: Tally
    reference: int
    p: Float[np.ndarray, " head"]


def score(cases: AntecedentPredictions, heads: int, draws: Draws) -> MentionScore:
    """The scores of `heads` heads on these cases; `draws`: how often each resample has each unit (document)."""
    right, reference = cases.unpacked(heads), best_reference(cases)
    base = cases.guesses[:, reference] > 0
    both, alone = right[base].sum(0, dtype=np.int64), right[~base].sum(0, dtype=np.int64)
    accuracy, baselines = (tally_by_input(values, cases.unit, draws) for values in (right, cases.guesses))
    by_case = better(alone, base.sum() - both)
    p = np.maximum(by_case, accuracy.less(baselines, reference).p_above_zero)
    return MentionScore(accuracy, baselines, reference, p)


def best_reference(cases: AntecedentPredictions) -> int:
    """The index of the reference that is right most often; ties: the first."""
    return max((NAMES.index(name) for name in REFERENCES), key=lambda index: (cases.guesses[:, index].sum(), -index))


def best(
    cases: AntecedentPredictions, heads: int, draws: Draws, selection_half: Bool[np.ndarray, " unit"]
) -> BestHead | None:
    """The head and reference that are best in the units of `selection_half`, scored in the others.

    Returns: the best head with the scores `HEAD`, `BASELINES`, `ADVANTAGE`; None where one of the halves has no case.
    """

    def select(cases: AntecedentPredictions) -> Selection:
        head = int(cases.unpacked(heads).sum(0, dtype=np.int64).argmax())
        return Selection(head, baseline=best_reference(cases))

    def evaluate(cases: AntecedentPredictions, selected: Selection) -> Tally:
        right = cases.unpacked(heads)[:, selected.head].astype(float)
        columns = [right, *cases.guesses.T, right - cases.guesses[:, selected.baseline]]
        return tally_by_input(np.stack(columns, axis=1), cases.unit, draws)

    return best_head(cases, selection_half[cases.unit], select, evaluate)


def no_op(
    kinds: Mapping[str, AntecedentPredictions],
    best: Mapping[str, BestHead | None],
    draws: Draws,
    selection_half: Bool[np.ndarray, " unit"],
) -> dict[str, Tally]:
    """For each kind of mention with a chosen head, its attention to special tokens on the half that did not choose it.

    Clark et al. 2019, section 3.2: the function applies to a mention that has an antecedent, and to no other word.

    Returns: tallies over inputs of the mean of the mentions, of the other words, and of the latter minus the former.
    """
    tallies = {}
    for kind, head in best.items():
        if head is not None:
            cases = kinds[kind]
            cases = cases[~selection_half[cases.unit] & ~np.isnan(cases.sink_others[:, head.selected.head])]
            tallies[kind] = _sink_tally(cases, head.selected.head, draws)
    return tallies


def _sink_tally(cases: AntecedentPredictions, head: int, draws: Draws) -> Tally:
    """Each input weighs the same, however many mentions it has."""
    _, first, input, counts = np.unique(cases.input, return_index=True, return_inverse=True, return_counts=True)
    applies, otherwise = (
        np.bincount(input, values[:, head].astype(np.float64), len(counts)) / np.maximum(counts, 1)
        for values in (cases.sink, cases.sink_others)
    )
    return tally_by_input(np.column_stack([applies, otherwise, otherwise - applies]), cases.unit[first], draws)

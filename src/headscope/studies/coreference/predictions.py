"""Which heads of a model are right about which mentions, one bit for each answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.studies.coreference.baselines import NAMES, guesses
from headscope.studies.coreference.cases import Case
from headscope.studies.coreference.gender_number import PRONOUNS, Features
from headscope.studies.coreference.mentions import KINDS

GENDERS = {"male": "masculine", "female": "feminine"}


@dataclass(frozen=True)
class Answers:
    """A row for each case that was asked about, in the order of the corpus; heads of all layers stand in a row.

    * `unit`: what is resampled together; `input`, `place`: of the case in the corpus.
    * `kind`: of the mention; `gender`: masculine, feminine, or "" where a pronoun does not tell.
    * `asked`: whether the corpus itself asks; `known`: whether there is a right answer, and `first`: whether that is
      the first candidate.
    * `stereotype`, `pair`: of a question.
    * `guesses`: of the baselines, in the order of `baselines.NAMES`.
    * `right`: whether each head points at an antecedent; packed.
    * `toward`: the attention that a pronoun pays to the first candidate; no columns where no stereotype is asked about.
    """

    unit: Int[np.ndarray, " case"]
    input: Int[np.ndarray, " case"]
    place: Int[np.ndarray, " case"]
    kind: np.ndarray
    gender: np.ndarray
    asked: Bool[np.ndarray, " case"]
    known: Bool[np.ndarray, " case"]
    first: Bool[np.ndarray, " case"]
    stereotype: np.ndarray
    pair: np.ndarray
    guesses: Float[np.ndarray, "case baseline"]
    right: UInt8[np.ndarray, "case byte"]
    toward: Float[np.ndarray, "case head"]

    def __len__(self) -> int:
        return len(self.unit)

    def __getitem__(self, chosen: np.ndarray) -> "Answers":
        """Some of the cases: their numbers, or which they are."""
        return Answers(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def unpacked(self, heads: int) -> UInt8[np.ndarray, "case head"]:
        """1 where a head is right."""
        return np.unpackbits(self.right, axis=1, count=heads)

    def by_kind(self) -> dict[str, "Answers"]:
        """The cases that have a right answer: "all", and where there are several kinds of mentions those of each."""
        known = self[self.known]
        kinds = [kind for kind in KINDS if (known.kind == kind).any()]
        return {"all": known} | {kind: known[known.kind == kind] for kind in kinds if kinds[1:]}


def answers(
    cases: Sequence[Case],
    numbers: Int[np.ndarray, "case 2"],
    right: Bool[np.ndarray, "case head"],
    toward: Float[np.ndarray, "case head"],
) -> Answers:
    """The rows of some cases; `numbers` are of their inputs, and of the cases in these."""
    questions = [case.question for case in cases]
    return Answers(
        unit=np.array([case.unit for case in cases], dtype=np.int64),
        input=numbers[:, 0],
        place=numbers[:, 1],
        kind=_words(case.mention.kind for case in cases),
        gender=_words(gender(case.mention.head) for case in cases),
        asked=np.array([question is not None for question in questions], dtype=bool),
        known=np.array([bool(case.right) for case in cases], dtype=bool),
        first=np.array([case.candidates[0].word in case.right for case in cases], dtype=bool),
        stereotype=_words(question.stereotype if question else "" for question in questions),
        pair=_words(question.pair if question else "" for question in questions),
        guesses=np.array([guesses(case) for case in cases], dtype=np.float64).reshape(len(cases), len(NAMES)),
        right=np.packbits(right, axis=1),
        toward=toward,
    )


def gender(pronoun: str) -> str:
    """The gender of a pronoun in lower case.

    >>> gender("hers"), gender("them")
    ('feminine', '')
    """
    return GENDERS.get(PRONOUNS.get(pronoun, Features()).gender or "", "")


def joined(parts: Sequence[Answers]) -> Answers:
    """The answers of several batches, in the order of the corpus."""
    kept = [part for part in parts if len(part)] or list(parts[:1])
    whole = Answers(*(np.concatenate([getattr(part, field.name) for part in kept]) for field in fields(Answers)))
    return whole[np.lexsort((whole.place, whole.input, whole.unit))]


def _words(values: Iterable[str]) -> np.ndarray:
    return np.array(list(values), dtype=str)

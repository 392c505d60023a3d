"""Single cases that mixes of layers get right late: the answer of the mix up to each layer (Tenney et al. 2019)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.groups import WHOLE_TEXT, Answers, CaseGroup, Unit
from headscope.studies.layers.layers.sampling import TaskCases

OF_TASK = 2
AROUND = 40  # characters of the text on each side of the spans


@dataclass(frozen=True)
class LateCase:
    """A tested case: the rows of its spans, its class, and the class that the mix up to each space says.

    * `settled`: the first space from which on all mixes are right.
    """

    rows: tuple[int, ...]
    right: int
    guesses: tuple[int, ...]
    settled: int


def late_cases(group: CaseGroup, answers: Answers, guesses: Int[np.ndarray, "space case"]) -> tuple[LateCase, ...]:
    """The two cases of a task that become right last and stay right; none that is right from the first layer.

    >>> guesses = np.array([[0, 1, 1], [1, 1, 0], [0, 1, 0]])
    >>> numbers = {"report": np.array([0, 1, 0])}
    >>> group = CaseGroup({"report": np.array([[5], [6], [7]])}, {}, [])
    >>> [(case.rows, case.settled) for case in late_cases(group, Answers("task", 2, numbers), guesses)]
    [((5,), 2), ((7,), 1)]
    """
    present = answers.present("report")
    numbers, rows = answers.numbers["report"][present], group.units["report"][present]
    right = np.flip(guesses == numbers, axis=0)
    settled = len(guesses) - np.cumprod(right, axis=0).sum(0)
    order = np.argsort(-np.where(settled < len(guesses), settled, -1), kind="stable")
    chosen = [int(case) for case in order[:OF_TASK] if 0 < settled[case] < len(guesses)]
    return tuple(
        LateCase(tuple(rows[case].tolist()), int(numbers[case]), tuple(guesses[:, case].tolist()), int(settled[case]))
        for case in chosen
    )


def described(
    cases: Sequence[LateCase], task: TaskCases, units: Mapping[int, Unit], sentences: Sequence[Sentence]
) -> list[dict[str, Any]]:
    """Cases with their text, in which brackets mark the spans, and the names of their answers by space."""
    return [
        {
            "task": task.task.words,
            "text": marked(sentences[units[case.rows[0]][0]], [units[row][1:] for row in case.rows]),
            "answer": task.classes[case.right],
            "settled": case.settled,
            "answers": [task.classes[guess] for guess in case.guesses],
        }
        for case in cases
    ]


def marked(sentence: Sentence, spans: Sequence[tuple[int, int]]) -> str:
    """The text around some spans of words, which stand in brackets; of a whole text its beginning.

    >>> marked(Sentence("She had grown restless.", ((0, 3), (4, 7), (8, 13), (14, 22), (22, 23))), [(2, 3), (3, 4)])
    'She had [grown] [restless].'
    >>> marked(Sentence("don't", ((0, 2), (2, 5))), [(0, 1), (1, 2)])
    "[do][n't]"
    """
    words = [
        (sentence.words[start][0], sentence.words[end - 1][1]) for start, end in spans if (start, end) != WHOLE_TEXT
    ]
    if not words:
        return _cut(sentence.text, 0, 2 * AROUND)
    text, signs = sentence.text, [*((end, "]") for _, end in words), *((start, "[") for start, _ in words)]
    for position, sign in sorted(signs, key=lambda sign: (sign[0], sign[1] == "["), reverse=True):
        text = f"{text[:position]}{sign}{text[position:]}"
    return _cut(text, min(words)[0] - AROUND, max(end for _, end in words) + 2 * len(words) + AROUND)


def _cut(text: str, start: int, end: int) -> str:
    """Some characters of a text, with dots where it goes on."""
    before, after = "…" * (start > 0), "…" * (end < len(text))
    return f"{before}{text[max(0, start) : end]}{after}"

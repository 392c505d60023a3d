"""The sense of a word by the nearest training case of the same word, and how clustered senses are, in each space.

After Wiedemann et al. 2019: one neighbour, by the cosine of contextual vectors; nothing is trained.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from sklearn.metrics import silhouette_samples

from headscope.statistics.intervals import Score
from headscope.studies.layers.layers.features import TrainedTask
from headscope.studies.layers.layers.groups import Units
from headscope.studies.layers.layers.measure import MeasuredTask, UnitDraws, score
from headscope.studies.layers.layers.sampling import TaskCases, first_sense
from headscope.studies.layers.layers.texts import PARTS, Part
from headscope.studies.layers.layers.unit_states import UnitStates

# Neighbours whose cosines differ by less are equally near.
TIE = 1e-6
Directions = Float[np.ndarray, "space case width"]


@dataclass(frozen=True)
class MeasuredSenses:
    """The senses of words in all spaces.

    * `task`: scores of the nearest neighbour; `gain`: minus those of the most frequent training sense.
    * `silhouette`: the mean over cases of all parts.
    * `unseen`: the number of tested cases none of whose senses a training case of the word has.
    """

    task: MeasuredTask
    gain: Score
    silhouette: Score
    unseen: int


def measured_senses(cases: TaskCases, units: Units, states: UnitStates, draws: UnitDraws) -> MeasuredSenses:
    """Read each case from its nearest training case of the same word.

    A case is right if any of its senses is the first one of that training case.
    """
    row = {case: units.row(case.text, case.spans[0]) for part in PARTS for case in cases.cases[part]}
    with_vector = {part: [case for case in cases.cases[part] if states.filled[row[case]]] for part in PARTS}
    by_word = defaultdict[str, dict[Part, list[int]]](lambda: {part: [] for part in PARTS})
    for part, some in with_vector.items():
        for number, case in enumerate(some):
            by_word[case.word][part].append(number)
    spaces, unseen, senses_of = len(states.tables), 0, cases.task.classes_of
    wrong = {part: np.ones((len(some), 1 + spaces)) for part, some in with_vector.items()}
    values, texts = [np.empty((0, spaces))], list[int]()
    for numbers in by_word.values():
        word = {part: [with_vector[part][number] for number in some] for part, some in numbers.items()}
        directions = {part: _directions(states.tables, [row[case] for case in some]) for part, some in word.items()}
        senses = list(map(first_sense, word["train"]))
        for part in ("choose", "report") if senses else ():
            guessed = guesses(directions[part], directions["train"], senses)
            for number, case, senses_guessed in zip(numbers[part], word[part], guessed, strict=True):
                wrong[part][number] = [sense not in senses_of(case) for sense in senses_guessed]
        unseen += sum(set(senses).isdisjoint(senses_of(case)) for case in word["report"])
        members = [case for part in PARTS for case in word[part]]
        clear, silhouette = silhouettes(np.concatenate([*directions.values()], 1), list(map(first_sense, members)))
        values.append(silhouette.T)
        texts += [members[index].text for index in clear]
    report = np.array([case.text for case in with_vector["report"]], dtype=int)
    scores = score(wrong["report"], np.ones(len(report)), report, draws, of_answers=True)
    nearest, majority, nothing = scores[slice(1, None)], scores[slice(0, 1)], np.full(spaces, np.nan)
    choice = 1 - wrong["choose"][:, 1:].mean(0)
    trained = TrainedTask(wrong["report"][:, 1:], np.ones(len(report)), choice, nothing, nothing, np.nan)
    counts = len(with_vector["train"]), len(with_vector["report"])
    task = MeasuredTask(trained, nearest, majority, None, None, None, None, *counts)
    losses = 1 - np.concatenate(values)
    clusters = score(losses, np.ones(len(losses)), np.array(texts, dtype=int), draws)
    return MeasuredSenses(task, nearest - majority, clusters, unseen)


def guesses(queries: Directions, training: Directions, senses: list[str]) -> list[list[str]]:
    """The senses that are guessed of cases: the most frequent one, then, in each space, that of the nearest case.

    Of equally near cases it is the most frequent of their senses, by its training cases.

    * `queries`, `training`: vectors of length 1; `senses`: those of the training cases.

    >>> training = np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.5, 0.5]]])
    >>> guesses(np.array([[[0.8, 0.6], [0.6, 0.8]]]), training, ["bank", "shore", "bank", "bank"])
    [['bank', 'bank'], ['bank', 'bank']]
    """
    counts = Counter(senses)
    times = np.array([counts[sense] for sense in senses])
    cosines = queries @ training.mT
    nearest = np.where(cosines >= cosines.max(-1, keepdims=True) - TIE, times, 0).argmax(-1)  # [space, query]
    most = senses[int(times.argmax())]
    return [[most, *(senses[case] for case in cases)] for cases in nearest.T.tolist()]


def silhouettes(
    directions: Directions, senses: Sequence[str]
) -> tuple[Int[np.ndarray, " clear"], Float[np.ndarray, "space clear"]]:
    """The silhouette of each case of a sense that has two or more, by one minus the cosine (Rousseeuw 1987).

    Returns: the numbers of these cases, none unless there are two such senses, and their values, from -1 to 1.

    >>> silhouettes(np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]]), ["a", "a", "b", "b"])[1].tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """
    counts = Counter(senses)
    clear = np.array([index for index, sense in enumerate(senses) if counts[sense] > 1], dtype=int)
    labels = [senses[index] for index in clear]
    if len(set(labels)) < 2:
        return clear[:0], np.empty((len(directions), 0))
    distances = 1 - directions[:, clear] @ directions[:, clear].mT
    distances[distances < TIE] = 0  # rounding is no distance
    return clear, np.array([silhouette_samples(space, labels, metric="precomputed") for space in distances])


def _directions(tables: Sequence[Float[np.ndarray, "row width"]], rows: Sequence[int]) -> Directions:
    """The vectors of rows, divided by their lengths."""
    vectors = np.stack([table[np.array(rows, dtype=int)] for table in tables]).astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(np.float32).tiny)

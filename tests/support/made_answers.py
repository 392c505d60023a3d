"""Trees, attention and answers made by hand, and the answers once more in loops."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example, Sentence
from headscope.results.vocabulary import DIRECTIONS
from headscope.studies.heads.syntax.observer import DependencyObserver
from headscope.studies.heads.syntax.scores import HeadPredictions
from support.any_examples import overlapping, spoken
from support.made_inputs import shown_maps, spaced


def tree(text: str, heads: Sequence[int], relations: str = "") -> Sentence:
    """A sentence whose words stand between blanks, with the syntactic head of each."""
    return spaced(text, heads=tuple(heads), deprel=tuple(relations.split()))


def answered(
    reader: DependencyObserver, layers: Sequence[list[Tensor]], inputs: list[Encoded], block: int = 10**6
) -> HeadPredictions:
    """What a reader answers when it is shown the maps of each layer, so many queries at a time."""
    return shown_maps(reader, layers, inputs, block)


def made(words: Sequence[tuple[int, int, int, int, str]], right: np.ndarray) -> HeadPredictions:
    """Predictions from (input, place, head place, length, relation) of each word, and right [word, head, direction]."""
    columns = [np.array(column) for column in zip(*words, strict=True)]
    return HeadPredictions(
        columns[0],
        columns[0],
        columns[1],
        *columns[1:4],
        relation=columns[4],
        equals=right.astype(np.uint8),
        tokens=np.ones(len(words), int),
        sink=np.zeros(right.shape[:2]),
    )


def random_answers(number: int, heads: int, seed: int = 0) -> tuple[HeadPredictions, np.ndarray]:
    """Words of random sentences, and which heads of a model are right, not by chance alike in all of them."""
    random = np.random.default_rng(seed)
    words = []
    for sentence in range(number):
        length = int(random.integers(1, 9))
        root = int(random.integers(length))
        for position in range(length):
            head = int(random.choice([other for other in range(length) if other != position] or [position]))
            relation = str(random.choice(["det", "obj", "punct", "nsubj:pass"]))
            words.append(
                (sentence, position, *((-1, length, "root") if position == root else (head, length, relation)))
            )
    chance = random.uniform(0.2, 0.9, (heads, len(DIRECTIONS)))
    right = random.random((len(words), heads, len(DIRECTIONS))) < chance
    right[[relation == "root" for *_, relation in words]] = False
    return made(words, right), right


def naive(example: Example | None, attention: np.ndarray, as_coded: bool = False) -> dict[int, np.ndarray]:
    """For each word how many equals, the syntactic head among them, each head of a model has, [head, direction]."""
    assert example is not None
    parts = list(overlapping(example, spoken(example)))
    found, before = {}, 0
    for sentence, tokens in parts:
        for word, head in enumerate(sentence.heads):
            if tokens[word] and (not head or tokens[head - 1]):
                right = [[_right(row, tokens, word, head - 1, way, as_coded) for way in (0, 1)] for row in attention]
                found[before + word] = np.array(right)
        before += len(tokens)
    return found


def _right(row: np.ndarray, tokens: list[set[int]], word: int, head: int, way: int, as_coded: bool) -> int:
    others = [other for other in range(len(tokens)) if other != word and tokens[other]]
    if head < 0 or not others:
        return 0
    weights = []
    for other in others:
        source, target = (tokens[word], tokens[other]) if way == 0 else (tokens[other], tokens[word])
        looking = [min(source)] if as_coded else sorted(source)
        weights.append(np.mean([sum(row[query, key] for key in target) for query in looking]))
    # Exact ties (of words that share all tokens) go to the first as coded; rounding makes near ones of them.
    near = 1e-7 if as_coded else 1e-6 * max(weights)
    best = [other for other, weight in zip(others, weights, strict=True) if weight >= max(weights) - near]
    return int(best[0] == head) if as_coded else len(best) * (head in best)

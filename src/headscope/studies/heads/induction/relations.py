"""Links between tokens whose attention is read: to the token after an earlier copy, to the copy, to the one before.

Only copies before a token count, in encoders too, which could also look at later ones.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int
from tokenizers import Encoding

from headscope.encoding.encoded import CLASS, Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example

RELATIONS = ("induction", "duplicate", "previous")
INDUCTION, DUPLICATE, PREVIOUS = range(3)
# Of a corpus: as many links of the same distances between tokens of which neither is a copy.
CONTROLS = {INDUCTION: 3, DUPLICATE: 4}
Links = Int[np.ndarray, "link 3"]
Pairs = Int[np.ndarray, "link 2"]
# Shares of a text at which a pair is planted.
DEPTHS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class RepeatWords(Words):
    """The encoder of a corpus whose inputs have the links of their own repetitions.

    * `seed`: of the links that these are compared with.
    """

    seed: int = 0

    def encoded(self, index: int, example: Example, encoding: Encoding) -> Encoded:
        """One input, with the links of each token to its nearest earlier copy, and those that they are compared with.

        Special tokens, periods and commas have no links.
        """
        input = super().encoded(index, example, encoding)
        word = (np.array(encoding.special_tokens_mask) == 0) & (input.token_class == CLASS["other"])
        return replace(input, links=natural_links(input.inputs["input_ids"], word, (self.seed, index)))


def natural_links(tokens: Int[np.ndarray, " token"], word: Bool[np.ndarray, " token"], seed: tuple[int, int]) -> Links:
    """Links of an input's own repetitions, each with a control pair of the same distance.

    A repetition without such a link is left out, and so is one directly after its copy.

    * `word`: the tokens that may have links.

    >>> links = natural_links(np.array([5, 6, 7, 8, 9, 5, 6, 1, 2]), np.ones(9, dtype=bool), (0, 0))
    >>> links[links[:, 0] == INDUCTION, 1:].tolist(), links[links[:, 0] == DUPLICATE, 1:].tolist()
    ([[5, 1], [6, 2]], [[5, 0], [6, 1]])
    """
    copies = nearest_copies(tokens, word)
    before = np.flatnonzero(word[1:] & word[:-1]) + 1
    rows = [np.stack([np.full(len(before), PREVIOUS), before, before - 1], axis=1)]
    random = np.random.default_rng(seed)
    for relation, after in ((INDUCTION, 1), (DUPLICATE, 0)):
        pairs = copies + np.array([0, after])
        pairs = pairs[(pairs[:, 0] > pairs[:, 1]) & word[pairs[:, 1]]]
        others = np.array([_elsewhere(tokens, word, pair, after, random) for pair in pairs.tolist()])
        linked = others.reshape(-1, 2)[:, 0] > 0 if len(pairs) else np.zeros(0, dtype=bool)
        for kind, some in ((relation, pairs), (CONTROLS[relation], others.reshape(-1, 2))):
            kept = some[linked]
            rows.append(np.concatenate([np.full((len(kept), 1), kind), kept], axis=1))
    return np.concatenate(rows).astype(np.int64)


def nearest_copies(tokens: Int[np.ndarray, " token"], word: Bool[np.ndarray, " token"]) -> Pairs:
    """Each token that stood before, and its nearest earlier copy."""
    last, pairs = dict[int, int](), list[tuple[int, int]]()
    for position in np.flatnonzero(word).tolist():
        token = int(tokens[position])
        if token in last:
            pairs.append((position, last[token]))
        last[token] = position
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _elsewhere(
    tokens: Int[np.ndarray, " token"],
    word: Bool[np.ndarray, " token"],
    pair: list[int],
    after: int,
    random: np.random.Generator,
) -> tuple[int, int]:
    """Two words of this distance, the second neither a copy of the first nor after one; (0, 0) if there are none."""
    distance = pair[0] - pair[1]
    queries = np.arange(distance + after, len(tokens))
    keys = queries - distance
    fits = word[queries] & word[keys] & (tokens[keys] != tokens[queries]) & (tokens[keys - after] != tokens[queries])
    queries = queries[fits]
    if not len(queries):
        return 0, 0
    query = int(random.choice(queries))
    return query, query - distance


def repeat_links(length: int, repeats: int) -> Links:
    """Links of each token of a later copy to the tokens after its earlier copies, and to these.

    >>> repeat_links(3, 2).tolist()[:3]
    [[0, 3, 1], [1, 3, 0], [0, 4, 2]]
    """
    rows = []
    for query in range(length, length * repeats):
        for copy in range(query % length, query, length):
            rows += [(INDUCTION, query, copy + 1)] if copy + 1 < query else []
            rows.append((DUPLICATE, query, copy))
    return np.array(rows)


def previous_links(length: int) -> Links:
    """Links of each token but the first to the one before."""
    return np.array([(PREVIOUS, query, query - 1) for query in range(1, length)])


def places_of(context: int) -> list[int]:
    """Where the first token of a pair stands, by depth.

    >>> places_of(100)
    [10, 29, 48, 68, 87]
    """
    return [round(depth * (context - 3)) for depth in DEPTHS]

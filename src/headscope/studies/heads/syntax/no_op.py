"""Whether the chosen head of a relation looks at special tokens where the relation does not apply.

Clark et al. 2019, section 3.2: heads look at [SEP] as a "no-op" when their function does not apply. A relation applies
to its dependents where the dependent looks at its head, and to the heads of such dependents where the head looks.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool

from headscope.linguistics.dependencies import ROOT
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.bootstrap import Tally, paired_means
from headscope.statistics.split_half import BestHead, Split
from headscope.studies.heads.syntax.scores import HeadPredictions

# Nearly every word has it, or is a head.
LEFT_OUT = "all"


def no_op(words: HeadPredictions, best: Mapping[str, BestHead | None], split: Split) -> dict[str, Tally]:
    """Attention to special tokens in the chosen head of each relation, on the inputs that did not choose it.

    Returns: for each relation with a chosen head the tally of `paired_means`: words to which it applies, and others.
    """
    held_out = words[~split.selection_half[words.input]]
    tallies = {}
    for relation, head in best.items():
        if head is not None and relation != LEFT_OUT:
            values = held_out.sink[:, head.selected.head]
            inside = applies(held_out, relation, DIRECTIONS[head.selected.direction])
            tallies[relation] = paired_means(values, inside, held_out.input, split.draws)
    return tallies


def applies(words: HeadPredictions, relation: str, direction: str) -> Bool[np.ndarray, " word"]:
    """The words whose attention would show the relation: its dependents, or their heads."""
    dependents = words.relation == relation
    if direction == "dependent_to_head":
        return dependents
    longest = int(words.word.max(initial=0)) + 1
    at, heads = words.input * longest + words.word, dependents & (words.head != ROOT)
    return np.isin(at, at[heads] - words.position[heads] + words.head[heads])

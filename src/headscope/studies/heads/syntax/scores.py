"""Predictions of a model's heads about the words of a treebank, the scores of these heads, and their no-op."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.linguistics.dependencies import ROOT, FixedWord, best_fixed_word
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.bootstrap import Tally, paired_means, tally_by_input
from headscope.statistics.columns import Columns
from headscope.statistics.significance import better
from headscope.statistics.split_half import BestHead, Selection, Split, best_head, halves

LEFT_OUT = ("punct", "root")
# The offsets that the released code tries.
AS_CODED = range(-3, 3)
# What a prediction counts that is shared by this many words.
SHARES = 1 / np.maximum(np.arange(256), 1) * (np.arange(256) > 0)
Draws = UInt8[np.ndarray, "resample input"]
# Rows of the held-out scores of a best head.
HELD_OUT = ("accuracy", "baseline", "gain")


@dataclass(frozen=True)
class HeadPredictions(Columns):
    """A row for each word, in the order of the corpus; a hundred thousand words and a BERT-base make 58 MB.

    * `input`: the number of the input that the word is in, `unit`: of its document; `word`: its own number there.
    * `position`: of the word in its sentence, `head`: of its syntactic head, -1 for a root; `length`: of the sentence.
    * `relation`: of the word to its head.
    * `equals`: how many words each head of the model predicts alike, in each of `results.DIRECTIONS`, where the
      syntactic head is one of them; 0 where it is not, 255 for more.
    * `tokens`: how many the word has.
    * `sink`: attention of the word to special tokens, of each head; half as many numbers as `equals`, of two bytes.
    """

    ORDER = ("input", "word")

    input: Int[np.ndarray, " word"]
    unit: Int[np.ndarray, " word"]
    word: Int[np.ndarray, " word"]
    position: Int[np.ndarray, " word"]
    head: Int[np.ndarray, " word"]
    length: Int[np.ndarray, " word"]
    relation: np.ndarray
    equals: UInt8[np.ndarray, "word head direction"]
    tokens: Int[np.ndarray, " word"]
    sink: Float[np.ndarray, "word head"]

    @property
    def shares(self) -> Float[np.ndarray, "word head direction"]:
        """1 where a head is right, 1/k where it predicts k words, one of them the syntactic head."""
        return SHARES.astype(np.float32)[self.equals]

    def by_relation(self, everything: bool = False) -> Mapping[str, "HeadPredictions"]:
        """The words of "all" and of each relation, the most frequent first; roots are no relation.

        * `everything`: "all" has punctuation and roots, too.
        """
        names, counts = np.unique(self.relation, return_counts=True)
        order = sorted(zip(-counts, names.tolist(), strict=True))
        kinds = {name: self[self.relation == name] for _, name in order if name != "root"}
        base = np.array([name.partition(":")[0] for name in names])[np.searchsorted(names, self.relation)]
        return {"all": self if everything else self[~np.isin(base, LEFT_OUT)]} | kinds


def hits(words: HeadPredictions, fixed: FixedWord, as_coded: bool = False) -> Bool[np.ndarray, " word"]:
    """For which words the head is the fixed word.

    Where it lies outside of the sentence, or is the word itself, the nearest other word counts: attention, too, may be
    to some other word always. The released code stops at the sentence's ends.
    """
    predicted = np.clip(fixed.places(words.position, words.length), 0, words.length - 1)
    if not as_coded:
        beside = np.where(words.position < words.length - 1, words.position + 1, words.position - 1)
        predicted = np.where(predicted == words.position, beside, predicted)
    return (predicted == words.head) & (words.head != ROOT)


def best_baseline(words: HeadPredictions, as_coded: bool = False) -> FixedWord:
    """The fixed word that is right for most of the words; the released code tries the offsets -3 to 2 alone."""
    if not as_coded:
        return best_fixed_word(words.position, words.head, words.length)
    return min(map(FixedWord, AS_CODED), key=lambda fixed: (-hits(words, fixed, True).sum(), abs(fixed.offset), fixed))


@dataclass(frozen=True)
class RelationScore:
    """Scores of all heads for one relation.

    * `accuracy`: tally of the words whose syntactic head each head predicts, heads of all layers in a row,
      [head, direction].
    * `fixed`, `baseline`: the best fixed word for the same words, and the tally of the words that it predicts.
    * `p`: p-value that a head is no better than that, [head, direction]: the larger of McNemar's exact test, which is
      right for few words, and of a t test over inputs or documents, whose words depend on each other.
    * `held_out_gain`: accuracy in one half of the inputs minus that of the fixed word that is best in the other half,
      [head, direction]; NaN where a half has no word.
    """

    accuracy: Tally
    fixed: FixedWord
    baseline: Tally
    p: Float[np.ndarray, "head direction"]
    held_out_gain: Float[np.ndarray, "head direction"]


def score(
    words: HeadPredictions, draws: Draws, selection_half: Bool[np.ndarray, " input"], as_coded: bool = False
) -> RelationScore:
    """The scores of all heads on the words of a relation.

    * `draws`: how often each resample has each input.
    * `selection_half`: mask of the inputs in which the fixed word of `held_out_gain` is selected; see `best`.
    """
    shares, fixed = words.shares, best_baseline(words, as_coded)
    baseline = hits(words, fixed, as_coded)
    alone, both = (shares[rows].sum(0, dtype=np.float64).round(3) for rows in (~baseline, baseline))
    accuracy = tally_by_input(shares, words.input, draws)
    of_fixed = tally_by_input(baseline[:, None], words.input, draws)
    # Shares make parts of words: they count against the head.
    by_word = better(np.floor(alone), baseline.sum() - np.floor(both))
    return RelationScore(
        accuracy,
        fixed,
        of_fixed,
        np.maximum(by_word, accuracy.less(of_fixed).p_above_zero),
        _held_out_gain(words, None if as_coded else selection_half[words.input], as_coded),
    )


def _held_out_gain(
    words: HeadPredictions, in_selection_half: Bool[np.ndarray, " word"] | None, as_coded: bool
) -> Float[np.ndarray, "head direction"]:
    first, second = halves(words, in_selection_half)
    right = second.shares.sum(0, dtype=np.float64)
    if not (len(first) and len(second)):
        return np.full(right.shape, np.nan)
    return (right - hits(second, best_baseline(first, as_coded), as_coded).sum()) / len(second)


def best(
    words: HeadPredictions, draws: Draws, selection_half: Bool[np.ndarray, " input"], as_coded: bool = False
) -> BestHead | None:
    """The head, direction and fixed word that are best in the inputs of `selection_half`, scored in the others.

    * `as_coded`: select and score on all inputs, as the released code does.

    Returns: the best head with the scores of `HELD_OUT`; None where one of the halves has no word.
    """

    def select(words: HeadPredictions) -> Selection:
        sums = words.shares.sum(0, dtype=np.float64)
        head, direction = np.unravel_index(sums.argmax(), sums.shape)
        return Selection(int(head), int(direction), best_baseline(words, as_coded))

    def evaluate(words: HeadPredictions, selected: Selection) -> Tally:
        right = words.shares[:, selected.head, selected.direction].astype(np.float64)
        baseline = hits(words, selected.baseline, as_coded).astype(np.float64)
        return tally_by_input(np.stack([right, baseline, right - baseline], axis=1), words.input, draws)

    return best_head(words, None if as_coded else selection_half[words.input], select, evaluate)


def no_op(words: HeadPredictions, best: Mapping[str, BestHead | None], split: Split) -> dict[str, Tally]:
    """Attention to special tokens in the chosen head of each relation, on the inputs that did not choose it.

    Clark et al. 2019, section 3.2: heads look at [SEP] as a "no-op" where their function does not apply.

    Returns: for each relation with a chosen head the tally of `paired_means`: words to which it applies, and others.
    """
    held_out = words[~split.selection_half[words.input]]
    tallies = {}
    for relation, head in best.items():
        if head is not None and relation != "all":  # nearly every word has it, or is a head
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

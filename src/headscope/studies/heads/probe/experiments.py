"""All parsers of a study, trained and scored by the words that get their head; outcomes are kept, not parsers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import nn

from headscope.encoding.block_parts import SPECIAL
from headscope.encoding.parsed_sentences import ROOT, UNKNOWN, Parsed
from headscope.linguistics.spanning_tree import best_heads, tree
from headscope.passes.captured_treebanks import CapturedTreebanks
from headscope.statistics.bootstrap import Tally, tally
from headscope.studies.heads.probe.observer import Treebank, padded
from headscope.studies.heads.probe.parsers import AttentionAndWordsParser, AttentionParser, DistanceParser
from headscope.studies.heads.probe.train import Done, ParserRecipe, fit, scored
from headscope.studies.heads.probe.word_vectors import Lexicon

Heads = Int[np.ndarray, " word"]
LEFT_OUT = "punct"
# Sentences of a batch.
CHUNK = 32
KINDS: Mapping[str, type[nn.Module]] = {
    "attention": AttentionParser,
    "attention_and_words": AttentionAndWordsParser,
    "distances_and_words": DistanceParser,
    "random_attention": AttentionParser,
    "random_attention_and_words": AttentionAndWordsParser,
}
RANDOM = ("random_attention", "random_attention_and_words")


@dataclass(frozen=True)
class Gold:
    """The words that are scored: all but punctuation and those whose head has no token; roots are among them.

    * `sentence`: the number of the sentence of each, `relation`: to its head.
    """

    sentences: Sequence[Parsed]

    @cached_property
    def masks(self) -> list[Bool[np.ndarray, " word"]]:
        """Mask of the scored words of each sentence."""
        return [(sentence.relations != LEFT_OUT) & (sentence.heads != UNKNOWN) for sentence in self.sentences]

    @cached_property
    def sentence(self) -> Int[np.ndarray, " scored"]:
        """The number of the sentence of each scored word."""
        return np.repeat(np.arange(len(self.masks)), [mask.sum() for mask in self.masks])

    @cached_property
    def relation(self) -> np.ndarray:
        """The relation of each scored word to its head."""
        return _joined(self.sentences, self.masks, [sentence.relations for sentence in self.sentences])

    def right(self, predicted: Sequence[Heads]) -> Bool[np.ndarray, " scored"]:
        """Mask of the scored words whose syntactic head is right in `predicted`, the heads by sentence."""
        same = [heads == sentence.heads for heads, sentence in zip(predicted, self.sentences, strict=True)]
        return _joined(self.sentences, self.masks, same).astype(bool)

    def tally(
        self,
        values: Float[np.ndarray, "scored column"],
        draws: Float[np.ndarray, "resample sentence"],
        among: Bool[np.ndarray, " scored"] | slice = slice(None),
    ) -> Tally:
        """The tally of values over (some of the) scored words; whole sentences or documents are resampled."""
        numbers, sentences = self.sentence[among], len(self.sentences)
        sums = np.zeros((sentences, values.shape[1]))
        np.add.at(sums, numbers, values[among])
        return tally(sums, np.bincount(numbers, minlength=sentences), draws)


def _joined(sentences: Sequence[Parsed], masks: Iterable[np.ndarray], columns: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([column[mask] for column, mask in zip(columns, masks, strict=True)])


@dataclass
class Outcome:
    """The words with the right head, by seed: in the best trees, and with the best head of each word alone.

    * `epochs`: passes over the training sentences, by seed; empty for what is not trained.
    """

    right: list[Bool[np.ndarray, " scored"]] = field(default_factory=list)
    right_alone: list[Bool[np.ndarray, " scored"]] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)

    def add(self, right: np.ndarray, right_alone: np.ndarray, epochs: int) -> None:
        """Add the outcome of one more seed."""
        self.right.append(right)
        self.right_alone.append(right_alone)
        self.epochs.append(epochs)


@dataclass(frozen=True)
class Predicted:
    """The heads of each sentence: those of the best tree, and the best of each word by itself."""

    trees: list[Heads]
    best: list[Heads]


def predict(
    parsers: Sequence[nn.Module], treebank: Treebank, lexicon: Lexicon, device: torch.device
) -> list[list[Predicted]]:
    """The heads that parsers of some kinds predict for each sentence of a treebank, by kind and seed."""
    found: list[list[Predicted]] = [[] for _ in parsers]
    table, empty = lexicon.table.to(device), [np.empty(0, dtype=int)] * len(treebank)
    with torch.inference_mode():
        for part in treebank.groups(CHUNK, np.arange(len(treebank))):
            batch = padded(treebank, lexicon, part, device)
            for parser, of_kind in zip(parsers, found, strict=True):
                scores = scored(parser, batch, table).double().cpu().numpy()
                of_kind += [Predicted(empty.copy(), empty.copy()) for _ in scores[len(of_kind) :]]
                for predicted, of_seed in zip(of_kind, scores, strict=True):
                    _add(predicted, treebank, part, of_seed)
    return found


def _add(predicted: Predicted, treebank: Treebank, part: Sequence[int], scores: np.ndarray) -> None:
    """Add the heads of the sentences of a batch."""
    for number, sentence_scores in zip(part, scores, strict=True):
        words = len(treebank.sentences[number])
        word_scores = sentence_scores[:words, : words + 1]
        predicted.trees[number], predicted.best[number] = tree(word_scores), best_heads(word_scores)


def preferences(treebank: Treebank, gold: Gold) -> Float[np.ndarray, "scored feature"]:
    """Attention of each head, in both directions, to a word's syntactic head, minus that to another word.

    The mean over all other words of the sentence; 0 for roots, and for words that have no other. Times the weights of
    an attention-only parser, it is the amount by which each head raises the score of the syntactic head.
    """
    differences = []
    for sentence, between, mask in zip(treebank.sentences, treebank.arrays, gold.masks, strict=True):
        words = between[SPECIAL:, SPECIAL:].float().numpy()
        both = np.concatenate([words, words.swapaxes(0, 1)], axis=-1)  # [word, word, head and direction]
        both[np.arange(len(words)), np.arange(len(words))] = 0
        scored_words = np.flatnonzero(mask)
        to_head = both[scored_words, np.maximum(sentence.heads[scored_words], 1) - 1]
        others = (both[scored_words].sum(1) - to_head) / max(1, len(words) - 2)
        counts = (sentence.heads[scored_words] != ROOT) & (len(words) > 2)
        differences.append((to_head - others) * counts[:, None])
    return np.concatenate(differences)


@dataclass
class Experiments:
    """Parsers that are trained, and their outcomes.

    * `outcomes`: what each gets right; `weights`: of the heads in the attention-only parser, by seed.
    """

    recipe: ParserRecipe
    lexicon: Lexicon
    gold: Gold
    device: torch.device
    done: Done = lambda sentences: None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    weights: list[Float[np.ndarray, " feature"]] = field(default_factory=list)
    interrupted: str = ""

    @contextmanager
    def keeping(self, keep: bool) -> Iterator[None]:
        """Keep finished trainings on Ctrl-C, if `keep` is set and they are enough for a result; else raise."""
        try:
            yield
        except KeyboardInterrupt:
            if not (keep and self.weights):
                raise
            self.interrupted = f"after {sum(len(outcome.epochs) for outcome in self.outcomes.values())} trainings"

    def run(self, names: Sequence[str], seeds: Sequence[int], treebanks: CapturedTreebanks[Treebank]) -> None:
        """Train parsers of some kinds with all seeds at once, and score them."""
        kinds = {name: KINDS[name] for name in names}
        fitted = fit(kinds, treebanks.train, self.lexicon, self.recipe, seeds, self.device, self.done)
        best = [parsers.best for parsers in fitted.values()]
        predicted = predict(best, treebanks.test, self.lexicon, self.device)
        for (name, parsers), of_seeds in zip(fitted.items(), predicted, strict=True):
            outcome = self.outcomes.setdefault(name, Outcome())
            for of_seed in of_seeds:
                outcome.add(self.gold.right(of_seed.trees), self.gold.right(of_seed.best), len(parsers.losses))
            if name == "attention":
                self.weights += list(parsers.best.get_parameter("weights").detach().cpu().double().numpy())

    def simple(self, treebanks: CapturedTreebanks[Treebank]) -> int:
        """Score the trees that need no training: right-branching, and at the best fixed offset; return that offset."""
        offset = best_offset(treebanks.train.sentences)
        for name, by in {"right_branching": NEXT, "fixed_offset": offset}.items():
            right = self.gold.right([at_offset(len(sentence), by) for sentence in treebanks.test.sentences])
            self.outcomes[name] = Outcome([right], [right], [])
        return offset


NEXT = 1


def at_offset(words: int, offset: int) -> Int[np.ndarray, " word"]:
    """The heads of a sentence's words, counted from 1, at a fixed offset; ROOT where that leads out of the sentence.

    At offset 1 this is the right-branching tree.

    >>> at_offset(4, NEXT).tolist(), at_offset(4, -2).tolist()
    ([2, 3, 4, 0], [0, 0, 1, 2])
    """
    heads = np.arange(1, words + 1) + offset
    return np.where((heads < 1) | (heads > words), ROOT, heads)


def best_offset(sentences: Iterable[Parsed]) -> int:
    """The most frequent offset of a head, without punctuation; ties: the nearest, then the one to the left."""
    counts: Counter[int] = Counter()
    for sentence in sentences:
        away = sentence.heads - np.arange(1, len(sentence) + 1)
        counts.update(away[(sentence.relations != "punct") & (sentence.heads > ROOT)].tolist())
    return min(counts, key=lambda offset: (-counts[offset], abs(offset), offset), default=NEXT)

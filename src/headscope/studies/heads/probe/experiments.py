"""All parsers of a study, trained and scored; their outcomes are kept, not the parsers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn

from headscope.encoding.parsed_sentences import ROOT, Parsed
from headscope.passes.captured_treebanks import CapturedTreebanks
from headscope.studies.heads.probe.lexicon import Lexicon
from headscope.studies.heads.probe.observer import Treebank
from headscope.studies.heads.probe.parsers import AttentionAndWordsParser, AttentionParser, DistanceParser
from headscope.studies.heads.probe.scores import Gold, Outcome, predict
from headscope.studies.heads.probe.train import Done, ParserRecipe, fit

KINDS: Mapping[str, type[nn.Module]] = {
    "attention": AttentionParser,
    "attention_and_words": AttentionAndWordsParser,
    "distances_and_words": DistanceParser,
    "random_attention": AttentionParser,
    "random_attention_and_words": AttentionAndWordsParser,
}
RANDOM = ("random_attention", "random_attention_and_words")


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

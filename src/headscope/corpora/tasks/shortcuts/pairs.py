"""Pairs of a premise and a hypothesis from the templates, the same in every run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from random import Random

from headscope.corpora import Corpus
from headscope.corpora.tasks.shortcuts.templates import LEXICON, TEMPLATES, TRANSITIVE, Template
from headscope.linguistics.sentence import Example, Sentence

NAME = "shortcuts"
# Pairs of a case, and of each case one of so many with a hypothesis of other words.
PAIRS, OTHERS = 40, 4
OTHER = "other words"
SLOT = re.compile(r"\{([a-z]+)(\d)(:verb)?\}")


@dataclass(frozen=True, slots=True)
class ShortcutPair:
    """A pair, its heuristic and case, and whether the hypothesis follows and says the same."""

    premise: str
    hypothesis: str
    heuristic: str
    case: str
    entailed: bool
    same: bool

    @property
    def phenomenon(self) -> str:
        """The heuristic, and whether the pair is entailed."""
        return f"{self.heuristic}: {'entailed' if self.entailed else 'not entailed'}"


def shortcut_pairs(per_case: int = PAIRS) -> list[ShortcutPair]:
    """Pairs of each case, and of the same premises with hypotheses of other words, which do not follow."""
    return [pair for template in TEMPLATES for pair in _of_template(template, per_case)]


def _of_template(template: Template, per_case: int) -> Iterator[ShortcutPair]:
    random = Random(f"{template.heuristic} {template.entailed} {template.case}")
    for number in range(per_case):
        words = {name: random.sample(known, min(len(known), 5)) for name, known in LEXICON.items()}
        premise, hypothesis = (_filled(pattern, words) for pattern in (template.premise, template.hypothesis))
        yield ShortcutPair(premise, hypothesis, template.heuristic, template.case, template.entailed, template.same)
        if number % OTHERS == 0:
            # the fourth and fifth noun and the third verb stand in no premise
            shifted = {"noun": words["noun"][3:], "verb": words["verb"][2:]}
            shifted["verb"] = [verb for verb in shifted["verb"] if verb not in premise]
            yield ShortcutPair(premise, _filled(TRANSITIVE, shifted), OTHER, template.case, False, False)


def _filled(pattern: str, words: dict[str, list[str]]) -> str:
    """A sentence of a pattern; of a phrase such as "read the book", `:verb` takes the first word."""

    def word(slot: re.Match[str]) -> str:
        chosen = words[slot[1]][int(slot[2]) - 1]
        return chosen.split()[0] if slot[3] else chosen

    text = SLOT.sub(word, pattern)
    return f"{text[0].upper()}{text[1:]}."


def corpus_of(pairs: list[ShortcutPair]) -> Corpus:
    """The pairs as examples, labelled by whether they are entailed."""
    texts = "\0".join(f"{pair.premise}\0{pair.hypothesis}" for pair in pairs)
    examples = [
        Example(
            f"{number}:{pair.heuristic}, {pair.case}",
            (Sentence(pair.premise),),
            (Sentence(pair.hypothesis),),
            label="yes" if pair.entailed else "no",
        )
        for number, pair in zip(count(1), pairs, strict=False)
    ]
    return Corpus(NAME, sha256(texts.encode()).hexdigest(), len(examples), {}, lambda: iter(examples))

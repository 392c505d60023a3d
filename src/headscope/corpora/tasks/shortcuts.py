"""Pairs of sentences on which shortcuts of inference fail, made from templates and a lexicon of our own.

After McCoy et al. (2019), whose three heuristics these are; no sentence is theirs. Every run has the same pairs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from random import Random

import numpy as np
from jaxtyping import Float

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence

LEXICON = {
    "noun": (
        "doctor lawyer teacher baker farmer singer writer painter driver banker nurse judge student dancer actor "
        "author pilot waiter tailor guard"
    ).split(),
    # Past tense and participle are the same, so that a passive has the words of its active.
    "verb": "helped called thanked blamed followed visited admired warned stopped hired".split(),
    # These are also used without an object.
    "open": "called followed visited helped stopped".split(),
    "act": "slept laughed coughed sneezed smiled shouted arrived resigned".split(),
    "near": ["near", "behind", "next to", "in front of"],
    "where": ["in the park", "at the station", "in the garden", "on the bridge"],
    "knew": "knew remembered noticed forgot".split(),
    "said": "said thought claimed hoped".split(),
    "doubted": "believed doubted expected heard".split(),
    "quality": "tired happy young famous quiet".split(),
    "wrote": ["read the book", "wrote the letter", "ate the soup", "sang the song", "cooked the meal"],
}
NAME = "shortcuts"
# Pairs of a case, and of each case one of this many with a hypothesis of other words.
PAIRS, OTHERS = 40, 4
OTHER = "other words"
SLOT = re.compile(r"\{([a-z]+)(\d)(:verb)?\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of pair: its heuristic, its case, the premise and the hypothesis.

    * `entailed`: whether the hypothesis follows; `same`: whether the premise follows from it, too.

    Slots are numbered words of the lexicon: {noun1}, {verb2}.
    """

    heuristic: str
    case: str
    entailed: bool
    premise: str
    hypothesis: str
    same: bool = False


def _of(heuristic: str, entailed: bool, *cases: tuple[str, ...]) -> tuple[Template, ...]:
    return tuple(
        Template(heuristic, case, entailed, premise, hypothesis, bool(same))
        for case, premise, hypothesis, *same in cases
    )


TRANSITIVE = "the {noun1} {verb1} the {noun2}"
TEMPLATES = (
    *_of(
        "lexical overlap",
        True,
        ("passive", "the {noun2} was {verb1} by the {noun1}", TRANSITIVE, "same"),
        ("object relative clause", "the {noun2} who the {noun1} {verb1} {verb2} the {noun3}", TRANSITIVE),
        ("phrase after the subject", "the {noun1} {near1} the {noun3} {verb1} the {noun2}", TRANSITIVE),
        ("relative clause after the subject", "the {noun1} who {act1} {verb1} the {noun2}", TRANSITIVE),
        ("two objects", "the {noun1} {verb1} the {noun3} and the {noun2}", TRANSITIVE),
    ),
    *_of(
        "lexical overlap",
        False,
        ("subject and object swapped", "the {noun2} {verb1} the {noun1}", TRANSITIVE),
        ("passive as active", "the {noun1} was {verb1} by the {noun2}", TRANSITIVE),
        ("noun of a phrase as object", "the {noun3} {near1} the {noun2} {verb1} the {noun1}", TRANSITIVE),
        ("object of a relative clause", "the {noun3} {verb1} the {noun1} who the {noun2} {verb2}", TRANSITIVE),
        ("two subjects", "the {noun1} and the {noun2} {verb1} the {noun3}", TRANSITIVE),
    ),
    *_of(
        "subsequence",
        True,
        ("second of two subjects", "the {noun1} and the {noun2} {act1}", "the {noun2} {act1}"),
        ("adjective", "{quality1} {noun1}s {act1}", "{noun1}s {act1}"),
        ("object left out", "the {noun1} {wrote1}", "the {noun1} {wrote1:verb}"),
        ("relative clause after the object", "the {noun1} {verb1} the {noun2} who {act1}", TRANSITIVE),
        ("phrase after the object", "the {noun1} {verb1} the {noun2} {near1} the {noun3}", TRANSITIVE),
    ),
    *_of(
        "subsequence",
        False,
        ("clause as object", "the {noun1} {doubted1} the {noun2} {act1}", "the {noun1} {doubted1} the {noun2}"),
        ("phrase before the verb", "the {noun1} {near1} the {noun2} {act1}", "the {noun2} {act1}"),
        ("relative clause before the verb", "the {noun1} who {verb1} the {noun2} {act1}", "the {noun2} {act1}"),
        ("participle as verb", "the {noun1} {open1} {where1} {act1}", "the {noun1} {open1} {where1}"),
        ("subject as object", "before the {noun1} {open1} the {noun2} {act1}", "the {noun1} {open1} the {noun2}"),
    ),
    *_of(
        "constituent",
        True,
        ("clause with because", "because the {noun1} {act1}, the {noun2} {act2}", "the {noun1} {act1}"),
        ("clause after although", "although the {noun1} {act1}, the {noun2} {act2}", "the {noun2} {act2}"),
        ("clause that is known", "the {noun1} {knew1} that the {noun2} {act1}", "the {noun2} {act1}"),
        ("first of two clauses", "the {noun1} {act1}, and the {noun2} {verb1} the {noun3}", "the {noun1} {act1}"),
        ("certainly", f"certainly {TRANSITIVE}", TRANSITIVE, "same"),
    ),
    *_of(
        "constituent",
        False,
        ("clause with if", "if the {noun1} {act1}, the {noun2} {act2}", "the {noun1} {act1}"),
        ("clause after unless", "unless the {noun1} {act1}, the {noun2} {act2}", "the {noun2} {act2}"),
        ("clause that is said", "the {noun1} {said1} that the {noun2} {act1}", "the {noun2} {act1}"),
        ("first of two alternatives", "the {noun1} {act1}, or the {noun2} {verb1} the {noun3}", "the {noun1} {act1}"),
        ("perhaps", f"perhaps {TRANSITIVE}", TRANSITIVE),
    ),
)


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
        words = {name: random.sample(entries, min(len(entries), 5)) for name, entries in LEXICON.items()}
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


# Names of the output that says yes, in lower case.
ENTAILS = ("entailment", "entailed", "entails", "yes", "true")
SAME = ("equivalent", "paraphrase", "duplicate", "is_duplicate", "1")


def judge_of(
    pairs: Sequence[ShortcutPair], id2label: Mapping[int, str], model: str
) -> Callable[[Float[np.ndarray, "*variant pair output"]], Float[np.ndarray, "*variant pair 2"]]:
    """A function from a model's outputs to those of the wrong and of the right answer, the largest of several.

    An output named entailment is right for pairs that are entailed; one named equivalent, paraphrase or 1 for pairs
    that say the same. All other outputs, such as neutral and contradiction, say no.

    Raises `HeadscopeError` if no output is named so.
    """
    names = [str(id2label[number]).lower().replace(" ", "_").replace("-", "_") for number in sorted(id2label)]
    yes = next((names.index(name) for name in (*ENTAILS, *SAME) if name in names), None)
    if yes is None or len(names) < 2:
        labels = ", ".join(map(str, id2label.values()))
        raise HeadscopeError(
            f"model '{model}' has the labels {labels}, none of which says that a pair is entailed or the same; use a "
            "model that was fine-tuned on such a task, or name that output 'entailment' or 'paraphrase' in its "
            "config.json (id2label)"
        )
    right = np.array([pair.entailed if names[yes] in ENTAILS else pair.same for pair in pairs])
    others = [number for number in range(len(names)) if number != yes]

    def judged(outputs: Float[np.ndarray, "*variant pair output"]) -> Float[np.ndarray, "*variant pair 2"]:
        for_yes, for_no = outputs[..., yes], outputs[..., others].max(-1)
        return np.stack([np.where(right, for_no, for_yes), np.where(right, for_yes, for_no)], axis=-1)

    return judged

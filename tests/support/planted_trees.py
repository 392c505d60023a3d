"""Sentences whose trees their words alone tell, so that a head can be planted that knows them.

>>> parsed("the cat saw .").heads
(2, 3, 0, 3)
"""

from headscope.linguistics.sentence import Example, Sentence
from support.made_inputs import corpus_of, spaced

# Each noun has its own determiner, each verb its own nouns, so that pieces alone tell the trees.
DETERMINERS = {"the": "cat", "a": "bird", "an": "dog", "his": "child"}
SUBJECTS = {"cat": "saw", "bird": "saw", "dog": "ran", "child": "ran"}
ADJECTIVES = {"old": "cat", "small": "dog", "new": "bird"}


def parsed(text: str) -> Sentence:
    """The tree of a sentence of these words: a verb, its nouns, their determiners and adjectives, a stop."""
    words = text.split()
    verb = next(number for number, word in enumerate(words, 1) if word in ("saw", "ran"))
    heads, relations = [], []
    for word in words:
        known = {**DETERMINERS, **ADJECTIVES}
        heads.append(words.index(known[word]) + 1 if word in known else 0 if word in ("saw", "ran") else verb)
        kinds = {"det": DETERMINERS, "amod": ADJECTIVES, "nsubj": SUBJECTS, "root": {"saw": 0, "ran": 0}}
        relations.append(next((kind for kind, its in kinds.items() if word in its), "punct"))
    return spaced(text, heads=tuple(heads), deprel=tuple(relations))


TEXTS = (
    "the cat saw .",
    "the old cat saw a bird .",
    "an small dog ran .",
    "ran an dog , his child .",
    "a new bird saw , the old cat .",
    "his child ran , an dog .",
)


TREEBANK = corpus_of([Example(str(number), (parsed(TEXTS[number % 6]),)) for number in range(60)])


def recursive(distances: list[float], start: int = 0) -> set[tuple[int, int]]:
    """The phrases of a sentence that is split at its largest gap, then of its parts."""
    if not distances:
        return set()
    gap = distances.index(max(distances))
    parts = recursive(distances[:gap], start) | recursive(distances[gap + 1 :], start + gap + 1)
    return {(start, start + len(distances) + 1)} | parts

"""The lexicon and the templates: three heuristics, each with five cases that are entailed and five that are not.

A heuristic says that a sentence follows if all its words stand in the premise (lexical overlap), if it stands there as
it is (subsequence), or is a clause of it (constituent).
"""

from dataclasses import dataclass

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

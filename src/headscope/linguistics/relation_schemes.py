"""Relations of pipelines that do not have those of Universal Dependencies: CLEAR (English) and TIGER (German).

A relation is translated word by word, in some cases by the part of speech of the word; heads stay as they are, so that
a preposition is still the head of its noun. CLEAR: Choi and Palmer (2012), which spaCy's English pipelines have. TIGER:
Albert et al. (2003), "TIGER Annotationsschema", which its German ones have.
"""

from collections.abc import Collection
from dataclasses import dataclass

# A relation, or one for each part of speech; "" is any other.
Translation = str | dict[str, str]

UNIVERSAL = frozenset(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed "
    "flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative "
    "xcomp".split()
)


@dataclass(frozen=True)
class RelationScheme:
    """A scheme of relations, and the universal ones that stand for them; a name of both has its universal sense."""

    name: str
    universal: dict[str, Translation]

    @property
    def own(self) -> set[str]:
        """The relations that Universal Dependencies do not have."""
        return self.universal.keys() - UNIVERSAL

    def translated(self, relation: str, upos: str) -> str:
        """The universal relation of a word; one that the scheme does not have stays.

        >>> CLEAR.translated("dobj", "NOUN"), TIGER.translated("nk", "ADJ"), TIGER.translated("ROOT", "VERB")
        ('obj', 'amod', 'ROOT')
        """
        translation = self.universal.get(relation, relation)
        return translation if isinstance(translation, str) else translation.get(upos, translation[""])


CLEAR = RelationScheme(
    "CLEAR",
    {
        "acomp": "xcomp",
        "agent": "case",
        "attr": "xcomp",
        "auxpass": "aux:pass",
        "complm": "mark",
        "csubjpass": "csubj:pass",
        "dative": {"ADP": "case", "PART": "case", "": "iobj"},
        "dobj": "obj",
        "infmod": "acl",
        "intj": "discourse",
        "meta": "dep",
        "neg": "advmod",
        "nn": "compound",
        "npadvmod": "obl:npmod",
        "nsubjpass": "nsubj:pass",
        "num": "nummod",
        "number": "compound",
        "oprd": "xcomp",
        "partmod": "acl",
        "pcomp": "advcl",
        "pobj": "obl",
        "poss": "nmod:poss",
        "possessive": "case",
        "preconj": "cc:preconj",
        "predet": "det:predet",
        "prep": "case",
        "prt": "compound:prt",
        "quantmod": "advmod",
        "rcmod": "acl:relcl",
        "relcl": "acl:relcl",
    },
)
TIGER = RelationScheme(
    "TIGER",
    {
        "ac": "case",
        "adc": "compound",
        "ag": "nmod:poss",
        "ams": "obl",
        "app": "appos",
        "avc": "advmod",
        "cc": {"SCONJ": "mark", "CCONJ": "case", "ADP": "case", "": "obl"},
        "cd": "cc",
        "cj": "conj",
        "cm": "case",
        "cp": "mark",
        "cvc": "obl",
        "da": "iobj",
        "dm": "discourse",
        "ep": "expl",
        "ju": "cc",
        "mnr": {"ADP": "case", "": "nmod"},
        "mo": {"ADP": "case", "ADJ": "amod", "VERB": "advcl", "NOUN": "obl", "PROPN": "obl", "": "advmod"},
        "ng": "advmod",
        "nk": {"DET": "det", "PRON": "det", "ADJ": "amod", "NUM": "nummod", "ADP": "case", "": "nmod"},
        "nmc": "compound",
        "oa": "obj",
        "oa2": "obj",
        "oc": {"VERB": "xcomp", "AUX": "xcomp", "": "ccomp"},
        "og": "obl:arg",
        "op": {"ADP": "case", "": "obl:arg"},
        "par": "parataxis",
        "pd": "xcomp",
        "pg": {"ADP": "case", "": "nmod"},
        "ph": "expl",
        "pm": "mark",
        "pnc": "flat",
        "rc": "acl:relcl",
        "re": "acl",
        "rs": "parataxis",
        "sb": "nsubj",
        "sbp": {"ADP": "case", "": "obl:agent"},
        "sp": "nsubj",
        "svp": "compound:prt",
        "uc": "flat",
        "vo": "vocative",
    },
)
SCHEMES = (CLEAR, TIGER)


def scheme_of(relations: Collection[str]) -> RelationScheme | None:
    """The scheme with most of these relations that are not universal; None where they have none of either.

    >>> [scheme and scheme.name for scheme in map(scheme_of, (["nsubj", "dobj"], ["sb", "cc"], ["nsubj", "obj"]))]
    ['CLEAR', 'TIGER', None]
    """
    shared = {scheme.name: len(scheme.own.intersection(relations)) for scheme in SCHEMES}
    return max(
        (scheme for scheme in SCHEMES if shared[scheme.name]), key=lambda scheme: shared[scheme.name], default=None
    )


def is_universal(relation: str) -> bool:
    """Whether Universal Dependencies have a relation, subtypes left aside.

    >>> is_universal("nsubj:pass"), is_universal("ROOT"), is_universal("dobj")
    (True, True, False)
    """
    return relation.partition(":")[0].lower() in UNIVERSAL

"""Number, gender and person of English mentions, by a few words: all that the rules of the baseline know."""

from functools import cache
from typing import NamedTuple


class Features(NamedTuple):
    """Number, gender and person of a mention; None if unknown, which agrees with everything."""

    number: str | None = None
    gender: str | None = None
    person: int | None = None

    def agrees(self, other: "Features") -> bool:
        """True if no feature differs that is known of both.

        >>> Features("singular", None, 3).agrees(Features(None, "female", 3))
        True
        """
        return all(None in pair or pair[0] == pair[1] for pair in zip(self, other, strict=True))


_PRONOUNS = {
    "i me my mine myself": Features("singular", None, 1),
    "we us our ours ourselves": Features("plural", None, 1),
    "you your yours": Features(None, None, 2),
    "yourself": Features("singular", None, 2),
    "yourselves": Features("plural", None, 2),
    "he him his himself": Features("singular", "male", 3),
    "she her hers herself": Features("singular", "female", 3),
    "it its itself this which": Features("singular", "neuter", 3),
    "they them their theirs themselves these those": Features("plural", None, 3),
    "who whom whose that one oneself": Features(None, None, 3),
}
PRONOUNS = {form: features for forms, features in _PRONOUNS.items() for form in forms.split()}
MALE = set(
    "mr sir lord king prince duke emperor pope father son brother uncle nephew grandfather grandson husband dad boy "
    "man gentleman guy actor waiter men boys brothers sons fathers "
    "john james robert michael william david richard joseph thomas charles daniel matthew mark paul george peter "
    "henry edward frank jack harry tom bill jim bob mike steve stephen andrew philip simon martin alexander "
    "louis adam alan albert anthony arthur ben benjamin brian christopher eric fred jacob joe kevin luke nicholas "
    "oliver patrick ryan sam scott walter".split()
)
FEMALE = set(
    "mrs ms miss madam lady queen princess duchess empress mother daughter sister aunt niece grandmother "
    "granddaughter wife mum mom girl woman actress waitress women girls sisters daughters mothers "
    "mary elizabeth anna anne ann jane margaret sarah susan linda barbara jennifer maria helen alice emma emily "
    "catherine katherine kate julia laura lucy rose ruth amy carol caroline charlotte christine clara claire diana "
    "dorothy eleanor ellen eva grace irene jessica joan judith karen lisa martha nancy olivia rachel rebecca sophie "
    "victoria virginia".split()
)
PLURALS = set("people men women children police feet teeth mice".split())


@cache
def features(forms: tuple[str, ...], head: str, kind: str) -> Features:
    """Number, gender and person of a mention from its words in lower case.

    >>> features(("the", "two", "sisters"), "sisters", "nominal")
    Features(number='plural', gender='female', person=3)
    >>> features(("her",), "her", "pronoun").number
    'singular'
    """
    if kind == "pronoun":
        return PRONOUNS.get(head, Features())
    words = set(forms)
    male, female = bool(words & MALE), bool(words & FEMALE)
    gender = None if male == female else "male" if male else "female"
    return Features(_number(words, head, kind), gender, 3)


def _number(words: set[str], head: str, kind: str) -> str | None:
    if "and" in words and kind == "proper":
        return "plural"
    if head in PLURALS:
        return "plural"
    if head.endswith("s") and not head.endswith(("ss", "us", "is")):
        return None if kind == "proper" else "plural"
    return "singular"

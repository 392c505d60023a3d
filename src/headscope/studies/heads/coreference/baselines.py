"""Simple ways to choose an antecedent, which heads are held against (after Clark et al. 2019, section 4.3)."""

from collections.abc import Callable, Iterable, Iterator

from headscope.studies.heads.coreference.cases import Case, Features, Headed, features

NAMES = ("nearest", "head_match", "rules", "random")
# Heads are called special that are better than the better one of these.
REFERENCES = ("nearest", "head_match")


def guesses(case: Case) -> tuple[float, ...]:
    """Score of each of `NAMES` in a case: 1 if right, else 0; for a random choice the probability of being right.

    * nearest: the candidate whose head word is nearest.
    * head_match: the nearest one with the same head word; without any nothing is chosen, which is wrong.
    * rules: the nearest one with the same words; else with the same head word; else that agrees in number, gender
      and person as far as a few words tell (`agreement`); else the nearest.
    * random: any head word of a candidate.
    """
    chosen = (nearest(case, case.candidates), nearest(case, _same_head(case)), rules(case))
    words = {candidate.word for candidate in case.candidates}
    return (
        *(float(candidate is not None and candidate.word in case.right) for candidate in chosen),
        len(case.right) / len(words),
    )


def nearest(case: Case, among: Iterable[Headed]) -> Headed | None:
    """The candidate whose head word is nearest to the mention's; ties: the first."""
    return min(among, key=lambda candidate: abs(candidate.word - case.mention.word), default=None)


def rules(case: Case) -> Headed | None:
    """The nearest candidate that passes the first of the sieves that any passes."""
    passed = (nearest(case, sieve(case)) for sieve in SIEVES)
    return next(filter(None, passed), None)


def _same_words(case: Case) -> Iterator[Headed]:
    return (candidate for candidate in case.candidates if candidate.forms == case.mention.forms)


def _same_head(case: Case) -> Iterator[Headed]:
    return (candidate for candidate in case.candidates if candidate.head == case.mention.head)


def _agreeing(case: Case) -> Iterator[Headed]:
    features = _features(case.mention)
    return (candidate for candidate in case.candidates if features.agrees(_features(candidate)))


def _features(mention: Headed) -> Features:
    return features(mention.forms, mention.head, mention.kind)


SIEVES: tuple[Callable[[Case], Iterable[Headed]], ...] = (
    _same_words,
    _same_head,
    _agreeing,
    lambda case: case.candidates,
)

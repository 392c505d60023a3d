"""What the simple baselines choose."""

import pytest

from headscope.studies.heads.coreference.baselines import NAMES, guesses, nearest, rules
from headscope.studies.heads.coreference.cases import Headed, features
from support.made_mentions import case, headed


def pronoun(word: int, form: str, entity: str = "e1") -> Headed:
    return headed(word, entity, forms=form, kind="pronoun")


def name(word: int, forms: str, entity: str = "e1") -> Headed:
    return headed(word, entity, forms=forms, kind="proper")


def chosen(*mentions: Headed) -> int:
    """The head word that the rules choose for the last mention."""
    found = rules(case(mentions[-1], *mentions[:-1]))
    assert found is not None
    return found.word


def test_the_nearest_is_before_or_after_and_of_equals_the_first() -> None:
    def of(*candidates: Headed) -> int:
        found = nearest(case(pronoun(5, "he"), *candidates), candidates)
        assert found is not None
        return found.word

    assert of(headed(1), headed(3)) == 3
    assert of(headed(1), headed(8)) == 8
    assert of(headed(3), headed(7)) == 3


def test_rules_take_the_same_words_before_the_same_head_before_agreement_before_the_nearest() -> None:
    full, same_head = headed(2, forms="the old cat"), headed(5, forms="a cat")
    mention = headed(20, forms="the old cat")
    assert chosen(full, same_head, headed(8, forms="the dogs"), headed(9, forms="a dog"), mention) == 2
    assert chosen(same_head, headed(8, forms="the dogs"), headed(9, forms="a dog"), mention) == 5
    assert chosen(headed(9, forms="a dog"), headed(12, forms="the dogs"), mention) == 9
    assert chosen(headed(9, forms="dogs"), headed(12, forms="the birds"), mention) == 12


def test_of_those_that_pass_a_sieve_the_nearest_is_taken() -> None:
    assert chosen(pronoun(1, "she"), pronoun(4, "she"), name(6, "ann lee"), pronoun(9, "she")) == 4


@pytest.mark.parametrize(("form", "expected"), [("he", 2), ("her", 3), ("they", 4), ("i", 5), ("it", 1), ("you", 5)])
def test_pronouns_choose_what_agrees_with_them(form: str, expected: int) -> None:
    """The nearest is "me", which agrees with another first person only; with "you" nothing agrees."""
    made = [headed(1, forms="the bridge"), name(2, "mr smith"), name(3, "mary"), headed(4, forms="books")]
    speaker = pronoun(5, "me")
    assert chosen(*made, speaker, pronoun(9, form)) == expected


@pytest.mark.parametrize(
    ("forms", "kind", "expected"),
    [
        ("ann and mary", "proper", ("plural", "female", 3)),
        ("john and mary", "proper", ("plural", None, 3)),
        ("the united states", "proper", (None, None, 3)),
        ("people", "nominal", ("plural", None, 3)),
        ("the boss", "nominal", ("singular", None, 3)),
        ("themselves", "pronoun", ("plural", None, 3)),
        ("nobody", "pronoun", (None, None, None)),
    ],
)
def test_features(forms: str, kind: str, expected: tuple) -> None:
    words = tuple(forms.split())
    assert tuple(features(words, words[-1], kind)) == expected


def test_guesses_are_right_or_wrong_and_chance_is_the_share_of_head_words() -> None:
    mention = headed(9, "e1", forms="the cat")
    right, same, other = headed(1, "e1", forms="a cat"), headed(3, "e2", forms="that cat"), headed(6, "e1", forms="it")
    found = dict(zip(NAMES, guesses(case(mention, right, same, other)), strict=True))
    assert found == {"nearest": 1, "head_match": 0, "rules": 0, "random": pytest.approx(2 / 3)}
    assert dict(zip(NAMES, guesses(case(mention, right, other)), strict=True))["head_match"] == 1
    both = headed(1, "e2", start=1, forms="cat and dog")
    assert guesses(case(mention, right, both, other))[3] == 1


def test_head_match_chooses_nothing_without_the_same_head_word() -> None:
    assert guesses(case(headed(9, forms="the cat"), headed(1, forms="it")))[:3] == (1, 0, 1)

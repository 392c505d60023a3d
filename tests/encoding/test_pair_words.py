"""Words of a pair: alike but for their case, with the tokens that they have."""

from headscope.encoding.encoder import Words
from headscope.encoding.word_tokens import copies, with_words
from headscope.linguistics.sentence import Example, Sentence
from support.made_inputs import spaced
from support.tiny import tiny_tokenizer

PAIR = Example("1", (Sentence("The cat ran."), Sentence("It sat.")), (Sentence("Was it the Cat, walking?"),))


def rows(example: Example) -> list[list[int]]:
    (encoded,) = Words(tiny_tokenizer(), 64).encode([example])
    return encoded.pair_words.tolist()


def test_copies_are_alike_but_for_their_case_and_signs_are_none() -> None:
    words = [form for sentence in PAIR.sentences for form in ("The", "cat", "ran", ".", "It", "sat", ".")][:7]
    second = ["Was", "it", "the", "Cat", ",", "walking", "?"]
    found = {(one, other) for one, other in copies(with_words(PAIR))}
    same = {
        (one, 7 + other)
        for one, word in enumerate(words)
        for other, copy in enumerate(second)
        if word.lower() == copy.lower() and word.isalpha()
    }
    assert found == same and len(found) == 3


def test_each_word_has_its_segment_and_its_tokens() -> None:
    pair = rows(Example("1", (spaced("the cat"),), (spaced("walking the"),)))
    words = {word: [row[3] for row in pair if row[0] == word] for word in range(4)}
    # [CLS] the cat [SEP] walk + ing the [SEP]; "walk" is no piece of the tiny vocabulary.
    assert words[0] == [1] and words[1] == [2] and words[3] == [max(row[3] for row in pair)]
    assert words[2] == list(range(4, words[3][0])) and len(words[2]) > 1
    assert [row[2] for row in pair] == [int(row[3] > 2) for row in pair]
    forms = dict((row[0], row[1]) for row in pair)
    assert forms[0] == forms[3] and len(set(forms.values())) == 3


def test_a_pair_of_too_many_words_has_none() -> None:
    many = Example("1", (spaced("a " * 600 + "a"),), (spaced("a " * 600 + "a"),))
    (encoded,) = Words(tiny_tokenizer(), 2000).encode([many])
    assert len(encoded) > 1200 and len(encoded.pair_words) == 0


def test_a_single_segment_has_none() -> None:
    assert rows(Example("1", (spaced("the cat the"),))) == []

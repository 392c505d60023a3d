"""Names that give an answer away, by a planted table of pairs of words."""

from headscope import Settings
from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.outputs.words.predictor import WordPredictor
from headscope.studies.words.cloze.controls import name_guesses
from support.planted_words import causal_table

WORDS = ("river", "house", "book", "tree")


def test_the_first_three_answers_for_a_name_are_guesses() -> None:
    table = causal_table({(":", word): 4.0 - rank for rank, word in enumerate(WORDS)})
    items = [ClozeItem(word, "P19", filled("[MASK].", word), (), word, subject="bird cat") for word in WORDS]
    items.append(ClozeItem("other relation", "P36", filled("[MASK].", "river"), (), "river", subject="bird"))
    guessed = name_guesses(WordPredictor(table), items, Settings())
    assert guessed.tolist() == [True, True, True, False, False]

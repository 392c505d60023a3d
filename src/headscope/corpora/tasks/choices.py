"""Tasks of choices, such as COPA: each choice is an input of its own, which one output scores (Wang et al. 2019).

The first segment of an example is what all choices follow, the second has a sentence for each choice.
"""

from collections.abc import Iterator
from dataclasses import replace

from headscope.corpora import Corpus
from headscope.linguistics.sentence import Example


def pairs_of(example: Example) -> list[Example]:
    """An example with each of its choices.

    >>> from headscope.linguistics.sentence import Sentence
    >>> example = Example("7", (Sentence("It rained. Why?"),), (Sentence("Clouds."), Sentence("Sun.")), "0")
    >>> [(pair.id, pair.second[0].text) for pair in pairs_of(example)]
    [('7-1', 'Clouds.'), ('7-2', 'Sun.')]
    """
    choices = enumerate(example.second, 1)
    return [replace(example, id=f"{example.id}-{number}", second=(choice,)) for number, choice in choices]


def by_choice(corpus: Corpus) -> tuple[Corpus, list[int]]:
    """The pairs of all examples, and the number of the example of each pair."""
    numbers = [number for number, example in enumerate(corpus) for _ in example.second]

    def pairs() -> Iterator[Example]:
        return (pair for example in corpus for pair in pairs_of(example))

    return replace(corpus, n_examples=len(numbers), again=pairs), numbers

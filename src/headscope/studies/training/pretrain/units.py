"""What is masked whole besides words: the noun phrases and the named entities of an annotated text.

After Sun et al. 2019 (ERNIE, section 3.2), who mask phrases and entities; Rogers et al. 2020 (section 6.1) name Zhang
et al. 2019 for it.
"""

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Bool, Int

from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Sentence

# Relations of Universal Dependencies within a noun phrase: of words before the noun, and of parts of a name.
BEFORE, NAME = {"det", "amod", "nummod", "nmod"}, {"compound", "flat", "fixed"}
NOUNS = ("NOUN", "PROPN")

Spans = Iterator[tuple[int, int]]
Words = Int[np.ndarray, " piece"]


def noun_phrases(sentence: Sentence) -> Spans:
    """Each noun of two or more words with what belongs to it and stands before it, as words [start, end).

    That are determiners, adjectives, numbers, possessors and the parts of a name, with all that depends on these. What
    follows a noun ("of the city", "who slept") is left out, so that phrases are short.

    >>> sentence = Sentence(
    ...     "My old cat slept", ((0, 2), (3, 6), (7, 10), (11, 16)), ("PRON", "ADJ", "NOUN", "VERB"), (3, 3, 4, 0),
    ...     ("nmod:poss", "amod", "nsubj", "root"),
    ... )
    >>> list(noun_phrases(sentence))
    [(0, 3)]
    """
    places = np.arange(len(sentence.heads))
    heads = np.where(np.array(sentence.heads, dtype=int) > 0, np.array(sentence.heads, dtype=int) - 1, places)
    relations = [relation.partition(":")[0] for relation in sentence.deprel]
    joined = np.isin(relations, [*NAME]) | (np.isin(relations, [*BEFORE]) & (places < heads))
    while (more := joined | joined[heads]).sum() > joined.sum():
        joined = more
    nouns = np.where(joined, heads, places)
    while (higher := nouns[nouns]).tolist() != nouns.tolist():
        nouns = higher
    for noun in np.flatnonzero(np.isin(sentence.upos, NOUNS) & ~joined):
        start, end = _run(nouns == noun, int(noun))
        if end - start > 1:
            yield start, end


def _run(members: Bool[np.ndarray, " word"], word: int) -> tuple[int, int]:
    """The neighbouring members around a word, as words [start, end)."""
    outside = np.flatnonzero(~members)
    before, after = outside[outside < word], outside[outside > word]
    return int(before[-1]) + 1 if len(before) else 0, int(after[0]) if len(after) else len(members)


def named_entities(sentence: Sentence) -> Spans:
    """The mentions whose syntactic head is a proper noun, without those with a clause, as words [start, end)."""
    for mention in sentence.mentions or ():
        inside = range(mention.start, mention.end)
        head = next(word for word in inside if sentence.heads[word] - 1 not in inside)
        clause = any(sentence.deprel[word].startswith("acl") for word in inside)
        if sentence.upos[head] == "PROPN" and not clause:
            yield mention.start, mention.end


# What is masked whole, by its name: where it is in a sentence.
UNITS: dict[str, Callable[[Sentence], Spans]] = {"phrase": noun_phrases, "entity": named_entities}


def joined_words(words: Words, starts: Words, sentence: Sentence, spans: Callable[[Sentence], Spans]) -> Words:
    """The number of each piece's word, of pieces of one span that of its first piece.

    * `words`: numbers of the tokenizer's words; `starts`: the character at which each piece starts.
    """
    joined = words.copy()
    if sentence.heads:
        for start, end in spans(sentence):
            inside = (starts >= sentence.words[start][0]) & (starts < sentence.words[end - 1][1])
            joined[inside] = joined[inside][:1]
    return joined


def require_units(corpus: Corpus, unit: str) -> None:
    """Raise `HeadscopeError` if a corpus lacks the trees or the mentions that a unit is made of."""
    if unit in UNITS:
        require_trees(corpus)
    if unit == "entity" and not any(sentence.mentions for example in corpus for sentence in example.sentences):
        raise HeadscopeError(f"corpus '{corpus.name}' has no mentions of entities; use a treebank that has some (GUM)")

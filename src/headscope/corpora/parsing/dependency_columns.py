"""Columns of a CoNLL-U sentence: parts of speech and a dependency tree, checked."""

from headscope.corpora.parsing.conllu_sentences import ConlluRow
from headscope.corpora.parsing.limits import is_whole_number
from headscope.corpora.problems import Bad
from headscope.linguistics.spanning_tree import cycle


def column(words: list[ConlluRow], name: str) -> tuple[str, ...]:
    """A column of the words; empty where no word has a value.

    Raises `Bad` if some words have a value and others have none.
    """
    values = tuple(getattr(word, name) for word in words)
    missing = [word for word, value in zip(words, values, strict=True) if value == "_"]
    if len(missing) == len(words):
        return ()
    if missing:
        raise Bad(missing[0].line, f"word {missing[0].id} has no {name}, other words of its sentence have")
    return values


def morphology(words: list[ConlluRow]) -> tuple[str, ...]:
    """The morphological features of the words, "" for a word without any; empty where no word has one."""
    values = tuple("" if word.morphology == "_" else word.morphology for word in words)
    return values if any(values) else ()


def heads(words: list[ConlluRow]) -> tuple[int, ...]:
    """The head of each word, 0 for the root; empty where the sentence has no tree.

    Raises `Bad` if a head is none of the words, if there is not one root, or if there is a cycle.
    """
    if not column(words, "head"):
        return ()
    for word in words:
        if not (is_whole_number(word.head) and int(word.head) <= len(words)):
            raise Bad(word.line, f"word {word.id}: head '{word.head[:40]}' is not in 0..{len(words)}")
    tree = tuple(int(word.head) for word in words)
    roots = [word for word, head in enumerate(tree, 1) if head == 0]
    if len(roots) != 1:
        raise Bad(words[0].line, f"the sentence has {len(roots)} roots, expected 1")
    if looping := cycle(tree):
        raise Bad(words[looping - 1].line, f"word {looping} is in a cycle of heads")
    return tree

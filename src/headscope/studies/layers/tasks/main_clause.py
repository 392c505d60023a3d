"""Tasks of the main clause: its auxiliary, and its subject, among other candidates of the sentence."""

from collections.abc import Iterator

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.tasks.task import ProbingTask, dependencies, each_sentence

NOMINAL = ("NOUN", "PROPN", "PRON")


def main_of(tags: tuple[str, ...], relation: str):
    """The rule of the word that has a relation to the root, among two or more words of some parts of speech.

    Sentences in which not exactly one of them has that relation are left out.
    """

    def cases(sentence: Sentence) -> Iterator[tuple]:
        words = dependencies(sentence)
        candidates = [each for each in words if sentence.upos and sentence.upos[each.place] in tags]
        main = [
            each.place
            for each in candidates
            if each.relation == relation and words[each.head_place].head_place < 0 <= each.head_place
        ]
        if len(candidates) > 1 and len(main) == 1:
            yield from (
                (((each.place, each.place + 1),), "main" if each.place == main[0] else "other") for each in candidates
            )

    return cases


NEEDS = "parts of speech and dependency relations"
SOURCE = "Lin et al. 2019, section 4, on sentences of a treebank"
TASKS = (
    ProbingTask("main_auxiliary", "main auxiliary", NEEDS, SOURCE, each_sentence(main_of(("AUX",), "aux"))),
    ProbingTask("main_subject", "subject of the main clause", NEEDS, SOURCE, each_sentence(main_of(NOMINAL, "nsubj"))),
)

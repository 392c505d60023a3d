"""Agreement in real text: the verbs of a treebank (.conllu), each beside its form of the other number.

After Linzen et al. (2016). The wrong form is the most frequent one that the treebank itself has for the lemma with the
same features and the other number, so that a treebank of any language whose verbs have `Number` will do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.parsing.conllu_rows import Block, ConlluRow, blocks, named_values, newdoc, tree_of
from headscope.corpora.parsing.conllu_text import text_and_spans
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.item import GAP, ClozeItem, gap
from headscope.errors import HeadscopeError

SUITES = {"treebank": ()}
PHENOMENON, OTHER = "agreement in text", {"Sing": "Plur", "Plur": "Sing"}
NOUNS, VERBS = {"NOUN", "PROPN", "PRON"}, {"VERB", "AUX"}
APOSTROPHES = ("'", "’")
# Relations to the head of a clause in which its finite verb may stand.
AUXILIARIES = {"aux", "aux:pass", "cop"}
Inflection = tuple[str, frozenset[tuple[str, str]]]


class Agreeing(NamedTuple):
    """A verb after its subject: its sentence with a gap, its form, lemma and features, number, and attractors.

    * `document`: what verbs are resampled with: that of `# newdoc`, else the sentence.
    """

    id: str
    context: str
    form: str
    inflection: Inflection
    number: str
    attractors: int
    document: str


def treebank(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Verbs in the third person after their subjects; the condition is the number of attractors, as of `agreement`."""
    forms: dict[Inflection, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    verbs, document = [], ""
    for block in blocks(file):
        if isinstance(block, Bad):
            yield block
            continue
        for word in filter(_shows_number, block.words):
            inflection, number = _inflection(word)
            forms[inflection][number][word.form.lower()] += 1
        try:
            document = newdoc(block, Path(file).name) or document
            verbs += _agreeing(block, Path(file).name, document)
        except Bad as bad:
            yield bad
    items = 0
    for verb in verbs:
        others = forms[verb.inflection][OTHER[verb.number]]
        wrong = next((form for form, _ in others.most_common() if form != verb.form.lower()), "")
        if not wrong:
            yield Skipped("verbs of which the treebank has no form of the other number")
            continue
        items += 1
        item = gap(verb.id, PHENOMENON, verb.context, (verb.form, wrong), condition=counted(verb.attractors))
        yield replace(item, document=verb.document)
    if not items:
        raise HeadscopeError(
            f"suite '{file}': no verb after a subject shows its number (FEATS with Number=Sing or Plur) in two forms; "
            "use a larger treebank, or of another language"
        )


def counted(attractors: int) -> str:
    """The number of attractors, the nouns of the other number between subject and verb, as a condition."""
    return f"{attractors} {'attractor' if attractors == 1 else 'attractors'}"


def _agreeing(block: Block, file: str, document: str) -> Iterator[Agreeing]:
    words, heads = block.words, tree_of(block.words)
    text, spans = text_and_spans(block)
    for index, verb in enumerate(words if heads and GAP not in text else []):
        if not (_shows_number(verb) and _stands_alone(text, *spans[index])):
            continue
        clause = heads[index] if verb.deprel in AUXILIARIES else index + 1
        subjects = [number for number in range(index) if heads[number] == clause and _is_subject(words[number])]
        if len(subjects) != 1 or _is_joined(subjects[0], words, heads):
            continue
        inflection, number = _inflection(verb)
        if _number(words[subjects[0]]) == number:
            between = [word for word in words[subjects[0] + 1 : index] if word.upos in NOUNS]
            attractors = [_number(word) for word in between].count(OTHER[number])
            sentence = block.comments.get("sent_id", f"{file}:{block.line}")
            context = f"{text[: spans[index][0]]}{GAP}{text[spans[index][1] :]}"
            id, unit = f"{sentence}-{verb.id}", document or sentence
            yield Agreeing(id, context, verb.form, inflection, number, attractors, unit)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a word stands between blanks and signs, and not, as in "isn't", next to a letter."""
    after = text[end : end + 1]
    return not text[max(0, start - 1) : start].strip() and not after.isalnum() and after not in APOSTROPHES


def _is_subject(word: ConlluRow) -> bool:
    return word.deprel.startswith("nsubj") and word.deprel != "nsubj:outer"


def _is_joined(subject: int, words: Sequence[ConlluRow], heads: Sequence[int]) -> bool:
    """Whether a subject is coordinated, so that the verb may agree with all of it."""
    return any(head == subject + 1 and word.deprel == "conj" for head, word in zip(heads, words, strict=True))


def _shows_number(word: ConlluRow) -> bool:
    """Whether a word is a finite verb in the third person with a number."""
    features = named_values(word.morphology)
    is_third = features.get("VerbForm", "Fin") == "Fin" and features.get("Person", "3") == "3"
    return word.upos in VERBS and is_third and features.get("Number") in OTHER and word.form.isalpha()


def _inflection(word: ConlluRow) -> tuple[Inflection, str]:
    features = named_values(word.morphology)
    number = features.pop("Number")
    return (word.lemma, frozenset(features.items())), number


def _number(word: ConlluRow) -> str:
    return named_values(word.morphology).get("Number", "")

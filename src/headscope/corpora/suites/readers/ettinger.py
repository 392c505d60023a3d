"""Ettinger's three diagnostics (2020): prediction, sensitivity to role reversal, and to negation.

* Prediction (CPRAG-102): the expected word beats a word of the same category and one of another; the condition is how
  strongly the context constrains it.
* Role reversal (ROLE-88): a verb scores higher where its arguments have the usual roles than where they are reversed.
* Negation (NEG-136): the true word beats the false one, in an affirmative sentence and in its negation; the condition
  is "simple", or whether people would say the negated sentence: "natural" or "less natural".
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from math import nan
from pathlib import Path

from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.item import GAP, ClozeItem, filled, gap
from headscope.corpora.suites.readers.tables import SuiteRow, rows

SUITES = {
    "ettinger": ("CPRAG-102.tsv", "ROLE-88.tsv", "NEG-136-SIMP.tsv", "NEG-136-NAT.tsv"),
    "ettinger_words": ("CPRAG-102.tsv", "ROLE-88.tsv", "NEG-136-SIMP.tsv", "NEG-136-NAT.tsv"),
    "ettinger_pairs": ("CPRAG-102.tsv", "ROLE-88.tsv"),
}
PREDICTION = ("item", "context_s1", "context_s2", "expected", "within_category", "between_category", "constraint")
ROLES = ("item", "context", "target", "tgt_cloze")
NEGATION = ("item", "context_aff", "context_neg", "target_aff", "target_neg")
NATURAL = (*NEGATION, "licensing")
# Of NEG-136-NAT: whether people would say the negated sentence.
LICENSING = {"Y": "natural", "N": "less natural"}
CONSTRAINTS = {"H": "high constraint", "L": "low constraint"}
# The two wrong words of a context of CPRAG-102.
RIVALS = ("related", "unrelated")
# The end of a context of ROLE-88: object, subject and auxiliary.
ARGUMENTS = re.compile(r"which (?P<object>.+) the (?P<subject>.+) (?P<verb>had( been)?)$")
WITHOUT = {"subject": r"which \g<object> \g<verb>", "object": r"what the \g<subject> \g<verb>"}
ARTICLE = re.compile(r"\(a\|an\)$")


def ettinger(file: str) -> Iterator[ClozeItem | Bad]:
    """The items of one of the three files; its name says which."""
    name = Path(file).name.partition(".")[0]
    if name.startswith("ROLE"):
        yield from _roles(file)
        return
    columns = PREDICTION if name.startswith("CPRAG") else NATURAL if "NAT" in name else NEGATION
    for row in rows(file, columns):
        if isinstance(row, Bad) or not all(row.values):
            yield row if isinstance(row, Bad) else Bad(row.line, "a value is empty")
        else:
            yield from [_prediction(row)] if columns is PREDICTION else _negation(row, name)


def ettinger_words(file: str) -> Iterator[ClozeItem | Bad]:
    """The good word of each item of `ettinger`, ranked in the vocabulary; negated sentences are left to `ettinger`."""
    for item in ettinger(file):
        if isinstance(item, Bad):
            yield item
        elif item.phenomenon != "negation: negated":
            yield replace(item, phenomenon=f"{item.phenomenon}, any word", bad=(), lemma=item.good.scored)


def ettinger_pairs(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Prediction with one wrong word at a time, and role reversal without one of the verb's arguments.

    A related wrong word is of the category of the expected one; a further item is right if it beats the unrelated one.
    Without the subject "which worker the owner had fired" is "which worker had fired"; without the object it is "what
    the owner had fired".
    """
    for item in ettinger(file):
        if isinstance(item, Bad):
            yield item
        elif item.phenomenon == "prediction":
            for rival, wrong in zip(RIVALS, item.bad, strict=True):
                yield replace(item, id=f"{item.id}-{rival}", phenomenon=f"prediction: {rival}", bad=(wrong,))
            named = replace(item, id=f"{item.id}-rivals", phenomenon="prediction: related before unrelated")
            yield named.with_candidates(item.bad)
        else:
            yield from (_without(item, argument) for argument in WITHOUT)


def _without(item: ClozeItem, argument: str) -> ClozeItem | Skipped:
    """Role reversal of texts without the argument."""
    contexts = [candidate.text[: candidate.start].rstrip() for candidate in item.candidates]
    if not all(map(ARGUMENTS.search, contexts)):
        return Skipped("role reversals of another form")
    cut = [ARGUMENTS.sub(WITHOUT[argument], context) for context in contexts]
    texts = tuple(filled(f"{context} {GAP}.", item.good.scored) for context in cut)
    named = replace(item, id=f"{item.id}-{argument}", phenomenon=f"role reversal: no {argument}", human=nan)
    return named.with_candidates(texts)


def _prediction(row: SuiteRow) -> ClozeItem:
    item, first, second, *answers, constraint = row.values
    condition = CONSTRAINTS.get(constraint, constraint)
    return gap(f"CPRAG-{item}", "prediction", f"{first} {second} {GAP}.", tuple(answers), condition=condition)


def _roles(file: str) -> Iterator[ClozeItem | Bad]:
    """One item of two lines with the same target: people write it more often in the good context than in the bad."""
    waiting: dict[str, SuiteRow] = {}
    for row in rows(file, ROLES):
        if isinstance(row, Bad):
            yield row
            continue
        item, context, target, share = row.values
        number = item.partition("-")[0]
        if not (context and target and re.fullmatch(r"[0-9]*\.?[0-9]+", share)):
            yield Bad(row.line, "the context or the target is empty, or tgt_cloze is no number")
        elif number not in waiting:
            waiting[number] = row
        else:
            yield _reversed(number, waiting.pop(number), row)
    yield from (Bad(row.line, f"item '{number}' has no other line") for number, row in waiting.items())


def _reversed(number: str, first: SuiteRow, second: SuiteRow) -> ClozeItem | Bad:
    if first.values[2] != second.values[2]:
        return Bad(second.line, f"item '{number}' has two targets, '{first.values[2]}' and '{second.values[2]}'")
    usual, reverse = sorted((first, second), key=lambda row: (-float(row.values[3]), row.values[0]))
    good, bad = (filled(f"{row.values[1]} {GAP}.", row.values[2]) for row in (usual, reverse))
    human = float(usual.values[3]) - float(reverse.values[3])
    return ClozeItem(f"ROLE-{number}", "role reversal", good, (bad,), first.values[2], human=human)


def _negation(row: SuiteRow, file: str) -> Iterator[ClozeItem]:
    """An affirmative sentence, and its negation, whose true word is the false one of the affirmative."""
    item, affirmative, negated, true, false, *licensing = row.values
    condition = LICENSING.get(licensing[0], licensing[0]) if licensing else "simple"
    for kind, context, answers in (("affirmative", affirmative, (true, false)), ("negated", negated, (false, true))):
        candidates = [filled(f"{_article(context, answer)} {GAP}.", answer) for answer in answers]
        id, lemma = f"{file}-{item}-{kind}", " ".join(sorted(answers))
        yield ClozeItem(id, f"negation: {kind}", candidates[0], (candidates[1],), lemma, condition)


def _article(context: str, answer: str) -> str:
    """The context with the article that the answer needs.

    >>> _article("A trout is (a|an)", "animal")
    'A trout is an'
    """
    return ARTICLE.sub("an" if answer[0].lower() in "aeiou" else "a", context)

"""Generated sentences of Lin et al. 2019 (.tsv): which auxiliary, or which noun, is that of the main clause.

Files are their {aux,sbjn}.{train,test,gen}. A row has a sentence and the number, from 0, of the main auxiliary or the
subject. In train and test it is always the first auxiliary or noun; in gen it never is. Cases are all auxiliaries or
nouns of sentences with two or more.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import lines
from headscope.corpora.parsing.words import between_blanks
from headscope.corpora.problems import Bad, Skipped, parsed, refuse_long, whole_number
from headscope.linguistics.sentence import Example, LabelledSpan, Sentence

SUFFIXES: tuple[str, ...] = ()
AUXILIARIES = frozenset(("can", "could", "will", "would"))
ANIMALS = ("ant", "bear", "bee", "bird", "cat", "dog", "duck", "horse", "lion", "tiger", "worm")
# The first parts of compounds, of which a linear rule takes the first noun.
COMPOUNDS = ("german", "house", "queen", "race", "worker")
NOUNS = frozenset((*ANIMALS, *(f"{animal}s" for animal in ANIMALS), "fish", "wolf", "wolves", *COMPOUNDS))
HOLDS, FAILS = "first word", "not the first word"


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence, its candidates labelled "main" or "other"; in groups by whether the first candidate is main."""
    return parsed(lines(source, cursor=options.cursor), partial(_example, name=Path(source).name))


def _example(numbered: tuple[int, str], name: str) -> Example | Skipped:
    line, row = numbered
    text, tab, written = row.rstrip("\r\n").partition("\t")
    if not tab:
        raise Bad(line, "no tab; expected a sentence and the number of a word")
    refuse_long(text, line)
    spans = between_blanks(text)
    forms, main = [text[start:end] for start, end in spans], whole_number(written.strip(), line, "number")
    if main >= len(forms):
        raise Bad(line, f"number {main}, but the words are 0 to {len(forms) - 1}")
    kind = next((kind for kind in (AUXILIARIES, NOUNS) if forms[main] in kind), None)
    if kind is None:
        raise Bad(line, f"word {main} is '{forms[main][:40]}', which is neither an auxiliary nor a noun of Lin et al.")
    candidates = [number for number, form in enumerate(forms) if form in kind]
    if len(candidates) < 2:
        return Skipped("one candidate")
    group = HOLDS if candidates[0] == main else FAILS
    labelled = tuple(
        LabelledSpan(((number, number + 1),), ("main" if number == main else "other",), group) for number in candidates
    )
    return Example(f"{name}:{line}", (Sentence(text, spans, labelled=labelled),))

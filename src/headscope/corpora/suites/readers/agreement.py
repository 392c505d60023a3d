"""Subject-verb agreement in nonsense sentences (Gulordava et al. 2018), the verb in the gap as in Goldberg (2019).

The phenomenon is whether a sentence is made of random words or the original one; the condition is the number of
attractors, nouns of the other number between subject and verb.
"""

from collections.abc import Iterator
from itertools import zip_longest

from headscope.corpora.parsing.limits import is_whole_number
from headscope.corpora.problems import Bad, Skipped, parsed
from headscope.corpora.suites.item import GAP, ClozeItem, gap
from headscope.corpora.suites.readers._tables import SuiteRow, rows

SUITES = {"agreement": ("gulordava_generated.tab",)}
COLUMNS = ("pattern", "constr_id", "sent_id", "form", "class", "type", "n_attr", "len_prefix", "sent")
PHENOMENA = {"generated": "agreement in nonsense", "original": "agreement in sentences"}


def agreement(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Two lines an item, the right and the wrong form of the verb."""
    numbered = rows(file, COLUMNS, quoted=True)
    return parsed(zip_longest(numbered, numbered), _item)


def _item(lines: tuple[SuiteRow | Bad, SuiteRow | Bad | None]) -> ClozeItem:
    right, wrong = lines
    for row in (right, wrong):
        if isinstance(row, Bad):
            raise row
    assert isinstance(right, SuiteRow)
    if not isinstance(wrong, SuiteRow):
        raise Bad(right.line, "the last line has no line after it with the other form of the verb")
    pattern, constr, number, good, first, kind, attractors, prefix, text = right.values
    *_, bad, second, _, _, _, other = wrong.values
    if (first, second) != ("correct", "wrong") or text != other:
        raise Bad(right.line, "this line and the next are not the correct and the wrong form of one sentence")
    words = text.removesuffix("<eos>").split()
    if kind not in PHENOMENA or not is_whole_number(prefix) or int(prefix) >= len(words) or not (good and bad):
        raise Bad(right.line, f"type '{kind}', len_prefix '{prefix}' or a form is wrong")
    words[int(prefix)] = GAP
    if words.count(GAP) != 1:
        raise Bad(right.line, f"the sentence has a word {GAP}")
    noun = "attractor" if attractors == "1" else "attractors"
    id = f"{pattern}/{constr}-{number}-{kind}"
    return gap(id, PHENOMENA[kind], " ".join(words), (good, bad), condition=f"{attractors} {noun}")

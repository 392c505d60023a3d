"""Agreement in Wikipedia (Linzen et al. 2016): each verb beside its form of the other number.

The file names the verb and its tag, not its lemma. The other form is a verb of the file too, never made: a plural is
its singular without "s", "es", or with "y" for "ies".
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from headscope.corpora.problems import Bad, Skipped, is_whole_number, parsed
from headscope.corpora.suites.item import GAP, ClozeItem, gap
from headscope.corpora.suites.readers.tables import SuiteRow, rows
from headscope.corpora.suites.readers.treebanks import PHENOMENON, counted

SUITES = {"linzen": ("agr_50_mostcommon_10K.tsv",)}
COLUMNS = ("orig_sentence", "verb", "verb_pos", "verb_index", "n_diff_intervening")
SINGULAR, PLURAL = "VBZ", "VBP"
IRREGULAR = {"is": ("are",), "has": ("have",)}


def linzen(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Present verbs after their subjects, one a sentence; the condition is the number of attractors (common nouns)."""
    counts = {SINGULAR: Counter[str](), PLURAL: Counter[str]()}
    for row in rows(file, COLUMNS, quoted=True):
        if isinstance(row, SuiteRow) and row.values[2] in counts:
            counts[row.values[2]][row.values[1]] += 1
    yield from parsed(rows(file, COLUMNS, quoted=True), partial(_item, _partners(counts[SINGULAR], counts[PLURAL])))


def _partners(singular: Counter[str], plural: Counter[str]) -> dict[tuple[str, str], str]:
    """The most frequent form of the other number of each tag and form that has one."""
    partners = {}
    for form, _ in reversed(singular.most_common()):
        endings = [form[:-1], form[:-2] * form.endswith("es"), f"{form[:-3]}y" * form.endswith("ies")]
        attested = [other for other in IRREGULAR.get(form, endings) if form.endswith("s") and plural[other]]
        if attested:
            other = max(attested, key=lambda word: plural[word])
            partners |= {(SINGULAR, form): other, (PLURAL, other): form}
    return partners


def _item(partners: Mapping[tuple[str, str], str], row: SuiteRow) -> ClozeItem | Skipped:
    text, verb, tag, index, attractors = row.values
    words = text.split()
    if not (is_whole_number(index) and is_whole_number(attractors) and words[int(index) - 1 : int(index)] == [verb]):
        raise Bad(row.line, f"word {index[:20]} of the sentence is not its verb '{verb[:40]}', or a number is wrong")
    wrong = partners.get((tag, verb), "")
    if not wrong or GAP in words:
        return Skipped("verbs of which the file has no form of the other number")
    words[int(index) - 1] = GAP
    return gap(f"linzen-{row.line}", PHENOMENON, " ".join(words), (verb, wrong), condition=counted(int(attractors)))

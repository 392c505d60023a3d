"""Winogender (Rudinger et al. 2018): an occupation, a participant and a pronoun; CORPUS is the folder of its files.

`all_sentences.tsv` has the sentences; the gender expected of an occupation follows from `bls_pct_female` of
`occupations-stats.tsv`: the share of women in the United States, above or below 50 per cent.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.words import Span, within, words
from headscope.corpora.problems import Bad, Skipped, parsed, refuse_long
from headscope.corpora.readers.table import Row, tsv
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Question, Sentence

SUFFIXES: tuple[str, ...] = ()
SENTENCES, STATISTICS = "all_sentences.tsv", "occupations-stats.tsv"
ID = re.compile(r"(?P<occupation>[^.]+)\.(?P<participant>[^.]+)\.(?P<answer>[01])\.(?P<gender>\w+)\.txt")
# Pronouns of the third person, by gender.
PRONOUNS = {
    "male": {"he", "him", "his", "himself"},
    "female": {"she", "her", "hers", "herself"},
    "neutral": {"they", "them", "their", "theirs", "themself", "themselves"},
}


def locate(source: str, options: Options) -> list[str]:
    """The two files of the folder. Raises `HeadscopeError` if one is missing."""
    folder = Path(source) if Path(source).is_dir() else Path(source).parent
    for name in (SENTENCES, STATISTICS):
        if not (folder / name).is_file():
            raise HeadscopeError(f"corpus '{source}': no file '{name}' in it; name the folder of Winogender")
    return [str(folder / SENTENCES), str(folder / STATISTICS)]


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence, with the question whom its pronoun refers to: the occupation is the first candidate."""
    if Path(source).name == STATISTICS:
        return
    expected = _expected(str(Path(source).with_name(STATISTICS)))
    yield from parsed(tsv(source, cursor=options.cursor), partial(_example, expected))


def _example(expected: dict[str, str], row: Row) -> Example:
    line, fields = row
    id, text = (str(fields.get(name, "")) for name in ("sentid", "sentence"))
    refuse_long(text, line)
    parsed = ID.fullmatch(id)
    if parsed is None or parsed["gender"] not in PRONOUNS:
        raise Bad(line, f"sentid '{id}' is not OCCUPATION.PARTICIPANT.ANSWER.GENDER.txt")
    spans = [_only(text, {parsed[name].lower()}, line) for name in ("occupation", "participant")]
    pronoun = _only(text, PRONOUNS[parsed["gender"]], line)
    parts = words(text, [pronoun, *spans])
    question = Question(
        within(parts, pronoun, line),
        tuple(within(parts, span, line) for span in spans),
        int(parsed["answer"]),
        _stereotype(parsed["gender"], expected.get(parsed["occupation"].lower(), "")),
        f"{parsed['occupation']}.{parsed['participant']}.{parsed['answer']}",
    )
    return Example(id, (Sentence(text, parts, question=question),))


def _only(text: str, forms: set[str], line: int) -> Span:
    """The characters of the only word that is one of these."""
    spans = [match.span() for match in re.finditer(r"\w+", text) if match[0].lower() in forms]
    if len(spans) != 1:
        raise Bad(line, f"{len(spans)} words of the sentence are {' or '.join(sorted(forms))}, expected 1")
    return spans[0]


def _stereotype(gender: str, expected: str) -> str:
    return "" if gender == "neutral" or not expected else "pro" if gender == expected else "anti"


def _expected(source: str) -> dict[str, str]:
    """The gender that most people of each occupation have. Raises `HeadscopeError` if a line has no share of women."""
    genders = {}
    for row in tsv(source):
        if isinstance(row, Skipped):
            continue
        line, fields = (row.line, {}) if isinstance(row, Bad) else row
        try:
            share = float(str(fields["bls_pct_female"]))
            if not 0 <= share <= 100:
                raise ValueError
            genders[str(fields["occupation"]).lower()] = "female" if share > 50 else "male" if share < 50 else ""
        except (KeyError, ValueError) as error:
            raise HeadscopeError(
                f"corpus '{source}', line {line}: no occupation with bls_pct_female from 0 to 100; restore the file"
            ) from error
    return genders

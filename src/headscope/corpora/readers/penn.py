"""Penn Treebank sentences in dependency form (.dp): word, tag and head, without relations; a file or a folder of them.

As NLTK ships a tenth of the treebank ("dependency_treebank"). Words stand between blanks, with the brackets and
quotation marks that the treebank escapes; heads are those of its conversion: a modal verb is the head of its clause.
"""

from collections.abc import Iterator

from headscope.corpora.options import Options, existing, in_folder
from headscope.corpora.parsing.conllu_rows import ConlluRow, tree_of
from headscope.corpora.parsing.sentence_blocks import Block, sentences
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES = (".dp",)
ESCAPED = {
    "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"', "`": "'",
}  # fmt: skip
PUNCTUATION = {",", ".", ":", "``", "''", "-LRB-", "-RRB-"}
UPOS = {
    "CC": "CCONJ", "CD": "NUM", "DT": "DET", "EX": "PRON", "IN": "ADP", "MD": "AUX", "NNP": "PROPN", "NNPS": "PROPN",
    "PDT": "DET", "POS": "PART", "PRP": "PRON", "PRP$": "PRON", "RP": "ADP", "TO": "PART", "UH": "INTJ", "WDT": "PRON",
    "WP": "PRON", "WP$": "PRON", "$": "SYM", "#": "SYM", "SYM": "SYM",
}  # fmt: skip
BY_BEGINNING = {"NN": "NOUN", "VB": "VERB", "JJ": "ADJ", "RB": "ADV", "WRB": "ADV"}


def locate(source: str, options: Options) -> list[str]:
    """The file itself, or all files of a folder that end in .dp, in the order of their names."""
    files = in_folder(source, "*.dp")
    return files or existing(source, options)


def examples(source: str, options: Options) -> Iterator[Example | Bad]:
    """Each sentence with its tree."""
    return sentences(source, _sentence, options.cursor)


def _sentence(block: Block) -> Sentence:
    rows = [_row(number, index, line) for index, (number, line) in enumerate(block, 1)]
    text, words = joined([row.form for row in rows])
    relations = ["punct" if row.upos == "PUNCT" else "dep" for row in rows]
    heads = tree_of(rows)
    if not heads:
        raise Bad(rows[0].line, "the words have no heads ('_'), expected numbers from 0")
    return Sentence(
        text,
        words=words,
        upos=tuple(row.upos for row in rows),
        heads=heads,
        deprel=tuple(relation if head else "root" for relation, head in zip(relations, heads, strict=True)),
    )


def _row(number: int, index: int, line: str) -> ConlluRow:
    columns = line.split("\t")
    if len(columns) != 3:
        raise Bad(number, f"{len(columns)} columns, expected word, tag and head, separated by tabs")
    form, tag, head = columns
    return ConlluRow(number, index, unescaped(form), "_", upos(tag), "_", head, "_", {})


def unescaped(form: str) -> str:
    """A word as the text has it.

    >>> unescaped("-LRB-"), unescaped("1\\\\/2")
    ('(', '1/2')
    """
    return ESCAPED.get(form, form.replace("\\/", "/").replace("\\*", "*"))


def upos(tag: str) -> str:
    """The universal part of speech of a tag of the Penn Treebank.

    >>> upos("PRP$"), upos("VBD"), upos(",")
    ('PRON', 'VERB', 'PUNCT')
    """
    if tag in PUNCTUATION:
        return "PUNCT"
    return UPOS.get(tag) or next((upos for start, upos in BY_BEGINNING.items() if tag.startswith(start)), "X")

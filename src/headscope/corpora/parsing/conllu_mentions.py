"""Entity mentions of a CoNLL-U sentence, from the attribute `Entity` of its MISC column.

A mention opens as "(e1-person-..." and closes as "e1)"; "(e1-person)" is one word. The comment `# global.Entity`
names the field that is the entity: "eid" (CorefUD) or "GRP" (GUM); a corpus with neither has entities and no
coreference. Left out and counted are entities without such a field, the parts of discontinuous mentions ("e1[1/2]"),
mentions of empty nodes alone, and mentions that do not open and close in one sentence.
"""

import re
from collections import Counter

from headscope.corpora.parsing.conllu_rows import Block, ConlluRow
from headscope.corpora.problems import Bad
from headscope.linguistics.sentence import Mention

GROUP, KIND = ("eid", "GRP"), ("etype",)
BRACKET = re.compile(r"\((?P<open>[^()]+)(?P<single>\))?|(?P<close>[^()]+)\)")


def position(names: tuple[str, ...], declared: str) -> int | None:
    """The position, from 0, of the first of some names among the fields of `# global.Entity`; None if there is none.

    >>> position(GROUP, "etype-GRP-infstat"), position(KIND, "GRP-etype"), position(GROUP, "etype-identity")
    (1, 1, None)
    """
    fields = declared.split("-")
    return next((fields.index(name) for name in names if name in fields), None)


def mentions(block: Block, declared: str) -> tuple[tuple[Mention, ...] | None, Counter[str]]:
    """Read the mentions of a sentence; `declared`: the fields of a bracket.

    Returns: the mentions, in their order, None where no field is the entity; and counts of those that were left out.

    Raises `Bad` if an `Entity` is not a row of brackets.
    """
    field, kind = position(GROUP, declared), position(KIND, declared)
    if field is None:
        return None, +Counter(
            {"entity without a group": sum(row.misc.get("Entity", "").count("(") for row in block.rows)}
        )
    complete: list[Mention] = []
    skipped: Counter[str] = Counter()
    opened: dict[str, list[tuple[int, str]]] = {}
    n_words = 0
    for row in block.rows:
        start = n_words
        n_words += isinstance(row.id, int)
        for bracket in _brackets(row):
            fields = (bracket["open"] or bracket["close"]).split("-")
            entity = fields[field] if field < len(fields) else fields[0]
            if bracket["open"]:
                words = fields[kind] if kind is not None and kind < len(fields) else ""
                opened.setdefault(entity, []).append((start, words))
            if bracket["single"] or bracket["close"]:
                _close(entity, opened, n_words, complete, skipped)
    skipped["unclosed mention"] += sum(map(len, opened.values()))
    return tuple(sorted(complete, key=lambda mention: (mention.start, -mention.end))), +skipped


def _brackets(row: ConlluRow) -> list[re.Match[str]]:
    value = row.misc.get("Entity", "")
    brackets = list(BRACKET.finditer(value))
    if "".join(match[0] for match in brackets) != value:
        raise Bad(row.line, f"Entity '{value}' is not made of '(entity-...', 'entity)' and '(entity-...)'")
    return brackets


def _close(
    entity: str, opened: dict[str, list[tuple[int, str]]], end: int, complete: list[Mention], skipped: Counter[str]
) -> None:
    if not opened.get(entity):
        skipped["unopened mention"] += 1
        return
    start, kind = opened[entity].pop()
    if entity.endswith("]"):
        skipped["part of a discontinuous mention"] += 1
    elif start == end:
        skipped["mention without words"] += 1
    else:
        complete.append(Mention(entity, start, end, kind))

"""Entity mentions of a CoNLL-U sentence, from the attribute `Entity` of its MISC column.

A mention opens as "(e1-person-..." and closes as "e1)"; "(e1-person)" is one word. The comment `# global.Entity`
names the field that is the entity: "eid" (CorefUD) or "GRP" (GUM). Left out and counted are
the parts of discontinuous mentions ("e1[1/2]"), mentions of empty nodes alone, and mentions that do not open
and close in one sentence.
"""

import re
from collections import Counter

from headscope.corpora.parsing.conllu_rows import Block, ConlluRow
from headscope.corpora.problems import Bad
from headscope.linguistics.sentence import Mention

BRACKET = re.compile(r"\((?P<open>[^()]+)(?P<single>\))?|(?P<close>[^()]+)\)")


def entity_field(declared: str, line: int) -> int:
    """The position, from 0, of the entity among the fields of `# global.Entity`.

    Raises `Bad` if it is none of them.

    >>> entity_field("GRP-etype-infstat", 2)
    0
    """
    fields = declared.split("-")
    for name in ("eid", "GRP"):
        if name in fields:
            return fields.index(name)
    raise Bad(line, f"global.Entity '{declared}' has no field eid or GRP")


def kind_field(declared: str) -> int | None:
    """The position, from 0, of the kind of entity among the fields of `# global.Entity`; None if it is none of them.

    >>> kind_field("GRP-etype-infstat"), kind_field("eid")
    (1, None)
    """
    fields = declared.split("-")
    return fields.index("etype") if "etype" in fields else None


def mentions(block: Block, field: int, kind: int | None = None) -> tuple[tuple[Mention, ...], Counter[str]]:
    """Read the mentions of a sentence.

    * `field`, `kind`: positions of the entity and of its kind in a bracket.

    Returns: the mentions, in their order, and counts of those that were left out.

    Raises `Bad` if an `Entity` is not a row of brackets.
    """
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
    entity: str,
    opened: dict[str, list[tuple[int, str]]],
    end: int,
    complete: list[Mention],
    skipped: Counter[str],
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

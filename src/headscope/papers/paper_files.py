"""Files of claims: a file of entries for each paper, which is checked and never run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError, suggest
from headscope.papers.entry_file import check_fields, number, read_mapping
from headscope.papers.paper_claim import Paper, PaperClaim
from headscope.papers.rules import RULES

ENTRIES = Path(__file__).with_name("entries")
SCHEMA = 1
PAPER_FIELDS = ("schema", "paper", "title", "claims")
NAMES = ("id", "section", "claim")


def read_papers(*files: str | Path) -> list[Paper]:
    """The papers that headscope has claims of, and those of further files.

    Raises `HeadscopeError` for a file that is no list of claims, and for an id that comes twice.

    >>> [paper.name for paper in read_papers()]
    ['clark2019', 'kovaleva2019', 'michel2019', 'prasanna2020', 'rogers2020']
    """
    papers = [*map(_own, sorted(ENTRIES.glob("*.yaml"))), *(_read(Path(path)) for path in files)]
    seen: dict[str, str] = {}
    for paper in papers:
        for claim in paper.claims:
            if claim.id in seen:
                raise HeadscopeError(f"claim '{claim.id}' is in '{seen[claim.id]}' and in '{paper.name}'; rename one")
            seen[claim.id] = paper.name
    return papers


def _read(path: Path) -> Paper:
    bad = partial(_bad, path)
    data = read_mapping(path, PAPER_FIELDS, "claims", SCHEMA, bad)
    name = str(data.get("paper") or path.stem)
    return Paper(name, str(data.get("title") or name), tuple(_claims(data["claims"], bad)))


_own = cache(_read)  # the files of headscope do not change, and a process may need them several times


def _claims(entries: Iterable[Any], bad: Any) -> Iterator[PaperClaim]:
    for index, entry in enumerate(entries, 1):
        of_entry = partial(_of_entry, bad, index)
        if not isinstance(entry, dict):
            raise of_entry("it is no mapping of fields")
        check_fields(entry, [one.name for one in fields(PaperClaim)], of_entry)
        for name in NAMES:
            if not entry.get(name):
                raise of_entry(f"it has no {name}")
        yield _claim(entry, of_entry)


def _claim(entry: Mapping[str, Any], bad: Any) -> PaperClaim:
    values: dict[str, Any] = {}
    for one in fields(PaperClaim):
        if one.name not in entry:
            continue
        value = entry[one.name]
        if one.name in ("number", "than"):
            values[one.name] = number(value, bad)
        elif one.name == "options":
            values[one.name] = _options(value, bad)
        elif one.name == "unless":
            values[one.name] = _names(value, bad)
        elif one.name == "procedure":
            values[one.name] = value is True
        elif one.name in ("limit", "version"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise bad(f"{one.name} '{value}' is no number")
            values[one.name] = value
        elif isinstance(value, bool | dict | list):
            raise bad(f"{one.name} is no text; put it in quotes")
        else:
            values[one.name] = str(value)
    return _complete(PaperClaim(**values), bad)


def _options(value: Any, bad: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in (*value, *value.values())):
        raise bad("`options` is no mapping of names to texts")
    return value


def _names(value: Any, bad: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise bad("`unless` is no list of variables")
    return tuple(value)


def _complete(claim: PaperClaim, bad: Any) -> PaperClaim:
    """The claim, if it has all that it needs."""
    if claim.study and claim.rule not in RULES:
        raise bad(f"no rule '{claim.rule}'; {suggest(claim.rule, list(RULES))}")
    if claim.study and claim.number is None:
        raise bad("it has a study but no number")
    if claim.study and RULES[claim.rule].compares and claim.than is None:
        raise bad(f"rule '{claim.rule}' compares two numbers; name the second in `than`")
    if not (claim.study or claim.needs):
        raise bad("it has no study; name one, or in `needs` what it would need")
    return claim


def _bad(path: Path, reason: str) -> HeadscopeError:
    return HeadscopeError(f"claims '{path}' cannot be read: {reason}")


def _of_entry(bad: Any, number: int, reason: str) -> HeadscopeError:
    return bad(f"entry {number}: {reason}")

"""Claims of papers as data: a file of entries for each paper, which is checked and never run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError, suggest
from headscope.papers.entry_file import ClaimedNumber, check_fields, number, read_mapping
from headscope.papers.rules import RULES

ENTRIES = Path(__file__).with_name("entries")
SCHEMA = 1
PAPER_FIELDS = ("schema", "paper", "title", "claims")
NAMES = ("id", "section", "claim")


@dataclass(frozen=True)
class PaperClaim:
    """A claim of a paper, and the statistic and the rule that decide it.

    * `id`, `version`: of the entry; `section`: of the paper; `claim`: in our words.
    * `study`: whose results decide it; "" if headscope has no rule for it. `command`: what makes such a result.
    * `rule`: a name of `RULES`; `number`, `than`: numbers of the result; `limit`: the rule's threshold.
    * `figure`: what the paper found; `source`: where that stands; `level`: how sure it is (P read in the paper, R from
      released results, S a secondary copy, ~ read off a plot).
    * `procedure`: whether it speaks of a way of training, so that one seed cannot decide it.
    """

    id: str
    section: str
    claim: str
    study: str = ""
    rule: str = ""
    number: ClaimedNumber | None = None
    than: ClaimedNumber | None = None
    limit: float = 0.0
    figure: str = ""
    source: str = ""
    level: str = ""
    command: str = ""
    procedure: bool = False
    version: int = 1


@dataclass(frozen=True)
class Paper:
    """A paper, and its claims in its order."""

    name: str
    title: str
    claims: tuple[PaperClaim, ...]


def read_papers(*files: str | Path) -> list[Paper]:
    """The papers that headscope has claims of, and those of further files.

    Raises `HeadscopeError` for a file that is no list of claims, and for an id that comes twice.

    >>> [paper.name for paper in read_papers()]
    ['clark2019', 'kovaleva2019', 'michel2019', 'rogers2020']
    """
    papers = [_read(Path(path)) for path in (*sorted(ENTRIES.glob("*.yaml")), *files)]
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
    claim = PaperClaim(**values)
    if claim.study and claim.rule not in RULES:
        raise bad(f"no rule '{claim.rule}'; {suggest(claim.rule, list(RULES))}")
    if claim.study and claim.number is None:
        raise bad("it has a study but no number")
    return claim


def _bad(path: Path, reason: str) -> HeadscopeError:
    return HeadscopeError(f"claims '{path}' cannot be read: {reason}")


def _of_entry(bad: Any, number: int, reason: str) -> HeadscopeError:
    return bad(f"entry {number}: {reason}")

"""Claims of papers as data: what each says, and the number and the rule that decide it.

A paper has a file of entries, which is checked and never run.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError, suggest
from headscope.papers.entry_file import (
    ClaimedNumber,
    Refuse,
    number,
    read_mapping,
    refuse_entry,
    refuse_file,
    typed,
    typed_fields,
)
from headscope.papers.numbers import REQUIRED
from headscope.papers.rules import RULES


@dataclass(frozen=True)
class PaperClaim:
    """A claim of a paper, and the statistic and the rule that decide it.

    * `id`, `version`: of the entry; `section`: of the paper; `claim`: in our words.
    * `study`: whose results decide it; "" if headscope cannot measure it. `command`: what makes such a result.
    * `options`: how that result was made: options of its study, and their values.
    * `unless`: variables of its study; a result that has one is of other inputs, and does not decide it.
    * `requires`: keys of `REQUIRED`; the claim does not apply to a model or corpus without them.
    * `needs`: what headscope would need to measure it; only without a study.
    * `rule`: a name of `RULES`; `number`, `than`: numbers of the result; `limit`: the rule's threshold.
    * `figure`: what the paper found; `source`: where that stands; `level`: how sure it is (P read in the paper, R from
      released results, S a secondary copy, ~ read off a plot).
    * `procedure`: whether it speaks of a way of training: its interval is over seeds too, and one seed decides nothing.
    """

    id: str
    section: str
    claim: str
    study: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    unless: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    rule: str = ""
    number: ClaimedNumber | None = None
    than: ClaimedNumber | None = None
    limit: float = 0.0
    figure: str = ""
    source: str = ""
    level: str = ""
    command: str = ""
    needs: str = ""
    procedure: bool = False
    version: int = 1


@dataclass(frozen=True)
class Paper:
    """A paper, and its claims in its order."""

    name: str
    title: str
    claims: tuple[PaperClaim, ...]


ENTRIES = Path(__file__).with_name("entries")
SCHEMA = 1
PAPER_FIELDS = ("schema", "paper", "title", "claims")
NAMES = ("id", "section", "claim")


def read_papers(*files: str | Path) -> list[Paper]:
    """The papers whose claims headscope has, and those of further files.

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
    bad = refuse_file("claims", path)
    data = read_mapping(path, PAPER_FIELDS, "claims", SCHEMA, bad)
    name = typed(data.get("paper") or path.stem, "paper", str, bad)
    title = typed(data.get("title") or name, "title", str, bad)
    return Paper(name, title, tuple(_claims(data["claims"], bad)))


_own = cache(_read)  # the files of headscope do not change, and a process may need them several times


def _claims(entries: Iterable[Any], bad: Refuse) -> Iterator[PaperClaim]:
    for index, entry in enumerate(entries, 1):
        bad_entry = refuse_entry(bad, f"entry {index}")
        values = typed_fields(entry, PaperClaim, bad_entry)
        for name in NAMES:
            if not values.get(name):
                raise bad_entry(f"it has no {name}")
        values |= {name: number(values[name], bad_entry) for name in ("number", "than") if name in values}
        yield _complete(PaperClaim(**values), bad_entry)


def _complete(claim: PaperClaim, bad: Refuse) -> PaperClaim:
    """The claim, if it has all that it needs."""
    if claim.study and claim.rule not in RULES:
        raise bad(f"no rule '{claim.rule}'; {suggest(claim.rule, list(RULES))}")
    if unknown := [name for name in claim.requires if name not in REQUIRED]:
        raise bad(f"nothing that '{unknown[0]}' names can be required; {suggest(unknown[0], list(REQUIRED))}")
    if claim.study and claim.number is None:
        raise bad("it has a study but no number")
    if claim.study and RULES[claim.rule].compares and claim.than is None:
        raise bad(f"rule '{claim.rule}' compares two numbers; name the second in `than`")
    if not (claim.study or claim.needs):
        raise bad("it has no study; name one, or in `needs` what it would need")
    return claim

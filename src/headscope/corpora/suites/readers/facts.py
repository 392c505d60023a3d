"""Facts of T-REx and Google-RE in the wordings of LAMA (Petroni et al. 2019) and of ParaRel (Elazar et al. 2021).

The answer is ranked in the vocabulary; of ParaRel also, whether several wordings of a fact get one answer.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.problems import Bad, Skipped, parsed
from headscope.corpora.suites.item import GAP, ClozeItem, filled
from headscope.errors import HeadscopeError

SUITES = {"google_re": ("google_re.jsonl",), "lama": ("trex_pairs.jsonl",), "pararel": ("pararel_patterns.jsonl",)}
SUBJECT, OBJECT = "[X]", "[Y]"
# The templates of the paper.
GOOGLE_RE = {
    "place_of_birth": ["[X] was born in [Y] ."],
    "date_of_birth": ["[X] (born [Y])."],
    "place_of_death": ["[X] died in [Y] ."],
}


class Fact(NamedTuple):
    """A fact of a line: the relation, the name of its subject, and its object."""

    line: int
    relation: str
    subject: str
    answer: str


def lama(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """LAMA: facts of T-REx with one template a relation, in relations.jsonl beside the file.

    Other objects of the same subject and relation are right too, and are not ranked.
    """
    return in_templates(facts(file), templates(file, "relations.jsonl", ("relation", "template")))


def google_re(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Google-RE of LAMA: places and years of birth, places of death."""
    return in_templates(facts(file, "relation"), GOOGLE_RE)


def pararel(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """ParaRel: the facts of trex_pairs.jsonl beside the file of patterns, each in all patterns of its relation."""
    beside = Path(file).with_name("trex_pairs.jsonl")
    pairs = str(beside if beside.is_file() else beside.with_name("trex_pairs.jsonl.gz"))
    patterns = templates(pairs, Path(file).name.removesuffix(".gz"), ("predicate_id", "pattern"))
    return in_templates(facts(pairs), patterns, ", several wordings")


def facts(file: str, relation: str = "predicate_id") -> Iterator[Fact | Bad | Skipped]:
    """The facts of a file of JSON lines; `relation`: the name of the field of the relation."""
    return parsed(records(file), partial(_fact, relation=relation))


def _fact(record: Record, relation: str) -> Fact:
    names = [record.get(name, str).strip() for name in (relation, "sub_label", "obj_label")]
    if not all(names) or GAP in "".join(names):
        raise Bad(record.line, f"the relation, the subject or the object is empty or has a {GAP}")
    return Fact(record.line, *names)


def templates(pairs: str, name: str, keys: tuple[str, str]) -> Mapping[str, list[str]]:
    """The templates of each relation, by the fields `keys`, from the file `name` beside that of the facts.

    Raises `HeadscopeError` if there is none, or naming the line that has no template.
    """
    beside = [Path(pairs).with_name(f"{name}{packed}") for packed in ("", ".gz")]
    file = next((str(path) for path in beside if path.is_file()), None)
    if file is None:
        raise HeadscopeError(f"suite '{pairs}': no file '{name}' beside it; add the templates of its relations")
    by_relation: dict[str, list[str]] = defaultdict(list)
    for record in records(file):
        try:
            if isinstance(record, Record):
                relation, template = (record.get(key, str) for key in keys)
                if template.count(SUBJECT) != 1 or template.count(OBJECT) != 1:
                    raise Bad(record.line, f"template '{template[:60]}' has not one {SUBJECT} and one {OBJECT}")
                by_relation[relation].append(template)
            elif isinstance(record, Bad):
                raise record
        except Bad as bad:
            raise HeadscopeError(f"suite '{file}', line {bad.line}: {bad.message}; correct it") from bad
    return by_relation


def in_templates(
    given: Iterable[Fact | Bad | Skipped], worded_as: Mapping[str, Sequence[str]], mark: str = ""
) -> Iterator[ClozeItem | Bad | Skipped]:
    """The items of some facts, each in all templates of its relation; a fact without a template is counted."""
    facts, right = list(given), defaultdict[tuple[str, str], list[str]](list)
    for fact in facts:
        if isinstance(fact, Fact):
            right[fact.relation, fact.subject].append(fact.answer)
    for fact in facts:
        if not isinstance(fact, Fact):
            yield fact
            continue
        here = worded_as.get(fact.relation, [])
        if not here:
            yield Skipped("facts without a template")
        for number, template in enumerate(here, 1):
            yield _worded(fact, template, number if len(here) > 1 else 0, right[fact.relation, fact.subject], mark)


def _worded(fact: Fact, template: str, number: int, right: Sequence[str], mark: str) -> ClozeItem:
    """A fact in the words of a template, 0 for the only one; `right`: all objects of its subject."""
    context = template.replace(OBJECT, GAP).replace(SUBJECT, fact.subject)
    return ClozeItem(
        f"{fact.relation}-{fact.line}" + (f"-{number}" if number else ""),
        f"{fact.relation}{mark}",
        filled(context, fact.answer),
        (),
        fact.answer,
        subject=fact.subject,
        other_answers=tuple(answer for answer in right if answer != fact.answer),
        fact=f"{fact.relation}-{fact.line}",
        condition=template if number else "",
        template=template,
    )

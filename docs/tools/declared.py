"""The parts of README, docs and mkdocs.yml that are made of what studies declare: their lists, and their numbers.

`python docs/tools/declared.py` writes them anew, between `<!-- studies -->` or `<!-- numbers -->` and `<!-- end -->`
(in mkdocs.yml after `#`). `<!-- numbers: seeds -->` are those of joined seeds.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from headscope import catalog
from headscope.catalog import command_name
from headscope.report import joined_seeds
from headscope.storage.files import write_atomically
from headscope.study import Number, Study

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"(?P<start>^ *(?:<!--|#) (?P<what>studies|numbers(?:: seeds)?)(?: -->)?\n).*?(?P<end>^ *(?:<!--|#) end)",
    re.M | re.S,
)

# Names with what they are, where the head of docs/numbers.md says it all; and a unit that it gives to all measures.
RULED = re.compile(
    r"chosen_(\w+_)?(layer|head): .*"
    r"|\w*q_value: false discovery rate of a (change|gain).*"
    r"|\w*p_value: p-value of (a change|as many).*"
    r"|\w+_random: .*with random weights, mean over seeds"
)
CHANGED = re.compile(
    r"(?:chosen_(?!reference)|embeddings_(?!alignment))(?P<of>\w+)|(?P<to>\w+)_(?:by_seed|std|embeddings)"
)
# Units that say no more than the intro of the page, or the words of a number.
PLAIN = {"1", "1 if so", "share", "fraction", "score", "rate", "ratio", "probability"}
PLAIN |= {"share of words", "share of items", "share of facts"}
SHARE = ", as a share of a token's attention"


def pages() -> list[Path]:
    """The files that have such parts."""
    files = [ROOT / "README.md", ROOT / "mkdocs.yml", *sorted((ROOT / "docs").rglob("*.md"))]
    return [file for file in files if BLOCK.search(file.read_text(encoding="utf-8"))]


def written(file: Path) -> str:
    """A page with its parts made anew."""
    text = file.read_text(encoding="utf-8")
    return BLOCK.sub(lambda block: block["start"] + _block(file, block["what"]) + block["end"], text)


def _block(file: Path, what: str) -> str:
    if what == "studies":
        return {"mkdocs.yml": navigation, "api.md": functions}.get(file.name, questions)(file)
    if what == "numbers: seeds":
        return "\n".join(["", *_lines(joined_seeds.STUDY, joined_seeds.SEEDS, {})]) + "\n\n"
    return everything()


def declared() -> dict[str, Study]:
    """The studies that are declared, by name, in the order of `headscope list`."""
    names = [name for studies in catalog.studies_by_question().values() for name in studies]
    return {name: study for name in names if (study := catalog.study(name)).question}


def numbers(study: Study) -> Iterator[Number]:
    """All numbers of a study; those of a measure as it declares them."""
    for measure in study.measures:
        module = catalog.load("measures", measure)
        label = module.VARIABLE
        definition = " ".join((module.__doc__ or "").split()).replace(SHARE, "")
        yield Number(label.name, label.long_name, label.units, tuple(label.coords), label.source, definition)
    yield from study.numbers


def everything() -> str:
    """The numbers of all studies: a line for each, that repeats no other."""
    lines: list[str] = []
    defined: dict[Number, str] = {}
    for name, study in declared().items():
        if any(numbers(study)):
            lines += ["", f"## The study `{command_name(name)}`", "", f"{study.source}.", ""]
            lines += _lines(study, command_name(name), defined)
    return "\n".join(lines) + "\n\n"


def _lines(study: Study, name: str, defined: dict[Number, str]) -> Iterator[str]:
    """The lines of a study's numbers; `defined` has the study that defines each number, whatever its dimensions.

    Numbers that are the same change of others, such as their values in the embeddings, share a line at the end.
    """
    before: dict[str, Number] = {}
    lines: dict[str, list[tuple[str, str, str]]] = {}  # by what numbers are: name, dimensions, and what each is alone
    for number in numbers(study):
        what, other = _in_names(number, [*before.values()]), defined.setdefault(replace(number, dims=()), name)
        if other != name:
            what = f"as in [{other}](#the-study-{other})"
        elif _is_ruled(number.name, what, before):
            what = "as [above](#points-intervals-q-and-special)"
        elif not _says_unit(what, number.unit, before):
            what += f" ({number.unit})"
        dims = f"[{', '.join(number.dims)}]" if number.dims else ""
        lines.setdefault(_of_its_namesake(number.name, what), []).append((number.name, dims, what))
        before[number.name] = number
    for several, parts in sorted(lines.items(), key=lambda line: len(line[1]) > 1):
        if len(parts) == 1:
            ((number_name, dims, what),) = parts
            yield f"* `{number_name}{dims}`: {what}"
        else:
            yield f"* {', '.join(f'`{number_name}`' for number_name, *_ in parts)}: {several}"


def _is_ruled(name: str, what: str, before: dict[str, Number]) -> bool:
    """Whether the head of docs/numbers.md says what a number is, as of a number before it for the chosen head.

    >>> _is_ruled("chosen_layer", "layer of the head that is best on one half", {})
    True
    """
    changed = CHANGED.fullmatch(name)
    return RULED.fullmatch(f"{name}: {what}") is not None or bool(changed and {*changed.groups()} & {*before})


def _says_unit(what: str, unit: str, before: dict[str, Number]) -> bool:
    """Whether words say their unit, or name what a share is of, or a number before that has the unit.

    >>> _says_unit("attention of a head to commas", "share of attention", {})
    True
    """
    if unit in PLAIN:
        return True
    named = [what.split()[0], *re.findall(r"`(\w+)`", what)]
    said = " ".join([what, *(before[name].unit for name in named if name in before)])
    return re.search(rf"\b{re.escape(unit.removeprefix('share of '))}\b", said, re.IGNORECASE) is not None


def _of_its_namesake(name: str, what: str) -> str:
    """What a number is, without the name of the number that its own name holds.

    >>> _of_its_namesake("embeddings_norm", "`norm`, in the embeddings")
    'the same, in the embeddings'
    """
    other = re.match(r"`(\w+)`(?=,| )", what)
    if other and re.search(rf"(^|_){other[1]}(_|$)", name):
        return f"the same{what[other.end() :]}"
    return what


def _in_names(number: Number, before: list[Number]) -> str:
    """What a number is; words that are the label of a number before it become the name of that."""
    what = (number.definition or number.what).rstrip(".")
    for other in sorted(before, key=lambda other: -len(other.what)):
        if len(other.what.split()) > 3 and other.what != what:
            what = re.sub(rf"(?:^|(?<= (?:in|of) )){re.escape(other.what)}", f"`{other.name}`", what)
    for other in before:
        start = other.what.rpartition(", ")[0]
        if "`" not in what and number.name.endswith(f"_{other.name}") and len(start.split()) > 3:
            what = re.sub(rf"^{re.escape(start)}(?=, )", f"`{other.name}`", what)
    return what


def questions(file: Path) -> str:
    """The questions that studies answer, with their pages."""
    lines = []
    for title, names in catalog.studies_by_question().items():
        lines.append(f"| **{title.partition(':')[0]}** | |\n")
        for name in names:
            if (study := catalog.study(name)).question:
                page = ROOT / "docs" / (study.page or f"{command_name(name)}.md")
                link = page.relative_to(file.parent)
                lines.append(f"| {study.question} | [`{command_name(name)}`]({link}) |\n")
    return "| question | command |\n| --- | --- |\n" + "".join(lines)


def functions(file: Path) -> str:
    """The functions of the studies, as mkdocstrings reads them."""
    return "\n" + "".join(
        f"::: {catalog.module_of(catalog.study_folder(name))}.study.run\n"
        f"    options: {{heading: headscope.{name}, toc_label: {name}}}\n\n"
        for name in declared()
    )


def navigation(file: Path) -> str:
    """The pages of the studies that are named nowhere else; they have their own titles."""
    others = BLOCK.sub("", file.read_text(encoding="utf-8"))
    named = dict.fromkeys(study.page or f"{command_name(name)}.md" for name, study in declared().items())
    return "".join(f"      - {page}\n" for page in named if f": {page}\n" not in others)


if __name__ == "__main__":
    for file in pages():
        write_atomically(file, written(file))

"""Objects, their properties and what can be done with them (Forbes et al. 2019).

Two suites read abstract.csv, with properties.tsv beside it: lines of objects, columns of properties, 1 where people say
yes and 0 where they say no. Where they disagree an object is left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from headscope.corpora.problems import Bad
from headscope.corpora.suites.item import GAP, ClozeItem, filled, gap
from headscope.corpora.suites.readers.tables import SuiteRow, rows
from headscope.errors import HeadscopeError

SUITES = {
    "properties": ("abstract.csv",),
    "affordances": ("situated-affordances-sampled.csv",),
    "object_pairs": ("abstract.csv",),
}
AFFORDANCES = ("affordancesNo", "affordancesYes", "cocoAnnID", "objectHuman")
# Words that compare an object that has the property with one that has not, and the other way round.
COMPARED = {
    "large": ("larger", "smaller"),
    "heavy": ("heavier", "lighter"),
    "fast": ("faster", "slower"),
    "loud": ("louder", "quieter"),
}
# Objects that are compared by each property.
PAIRS = 100
Answers = dict[str, tuple[list[str], list[str]]]


def properties(file: str) -> Iterator[ClozeItem | Bad]:
    """The words of a property score higher after an object that has it than after one that has not.

    The other object is drawn at random, the same in every run. Both texts end with the same words, so that the
    frequency of words alone decides no item. The phenomenon is the kind of property, the condition the property.
    """
    words = _words(file)
    bad, answers = _answers(file, list(words))
    yield from bad
    for property, (having, lacking) in answers.items():
        phrase, kind = words[property]
        random = Random(property)
        for object in having if lacking else ():
            good, other = (filled(f"The {noun} {GAP}.", phrase) for noun in (object, random.choice(lacking)))
            yield ClozeItem(f"{property}-{object}", f"properties: {kind}", good, (other,), property, property)


def object_pairs(file: str) -> Iterator[ClozeItem | Bad]:
    """Two objects compared, in both orders: a model that always writes one word is right in half of the items."""
    bad, answers = _answers(file, list(COMPARED))
    yield from bad
    for property, (more, less) in COMPARED.items():
        having, lacking = answers[property]
        random = Random(property)
        pairs = [(first, second) for first in having for second in lacking]
        for one, other in random.sample(pairs, min(PAIRS, len(pairs))):
            for first, second, words in ((one, other, (more, less)), (other, one, (less, more))):
                text = f"The {first} is {GAP} than the {second}."
                id = f"{property}-{first}-{second}"
                yield gap(id, "comparing objects", text, words, f"{one} {other}", property)


def affordances(file: str) -> Iterator[ClozeItem | Bad]:
    """A verb that people name for an object beats one that they do not name; the gap has the verb.

    Frequent verbs may win whatever the object is: compare it with the unigram baseline.
    """
    for row in rows(file, AFFORDANCES, quoted=True, delimiter=","):
        if isinstance(row, Bad):
            yield row
            continue
        wrong, right, picture, object = row.values
        verbs = list(zip(right.split(","), wrong.split(","), strict=False))
        if not (right and wrong and picture and object):
            yield Bad(row.line, "a value is empty")
            continue
        for number, (good, bad) in enumerate(verbs):
            if good != bad:
                context = f"What can you do with the {object}? You can {GAP}."
                yield gap(f"{picture}-{number}", "affordances", context, (good, bad), object)


def _words(file: str) -> dict[str, tuple[str, str]]:
    """The words and the kind of each property, from properties.tsv beside the file."""
    paths = [Path(file).with_name(f"properties.tsv{packed}") for packed in ("", ".gz")]
    beside = next((str(path) for path in paths if path.is_file()), None)
    if beside is None:
        raise HeadscopeError(f"suite '{file}': no file 'properties.tsv' beside it; add the words of its properties")
    by_object = {}
    for row in rows(beside, ("uid", "sentence", "categorization")):
        if isinstance(row, Bad) or not all(row.values):
            message = row.message if isinstance(row, Bad) else "a value is empty"
            raise HeadscopeError(f"suite '{beside}', line {row.line}: {message}; correct it")
        property, phrase, kind = row.values
        by_object[property] = (phrase if " " in phrase else f"is {phrase}", kind)
    return by_object


def _answers(file: str, names: Sequence[str]) -> tuple[list[Bad], Answers]:
    """The objects that have each property and those that have not; the lines that cannot be read."""
    bad, answers = list[Bad](), {name: (list[str](), list[str]()) for name in names}
    for row in rows(file, ("objectUID", *names), quoted=True, delimiter=","):
        if isinstance(row, Bad):
            bad.append(row)
        elif problem := _problem(row):
            bad.append(problem)
        else:
            object, *values = row.values
            for name, value in zip(names, values, strict=True):
                if value in ("0", "1"):
                    answers[name][value == "0"].append(object.replace("_", " "))
    return bad, answers


def _problem(row: SuiteRow) -> Bad | None:
    object, *values = row.values
    wrong = [value for value in values if value not in ("0", "1") and not value.startswith("-")]
    if wrong:
        return Bad(row.line, f"'{wrong[0][:40]}' is no answer; expected 1, 0 or a negative number")
    return None if object else Bad(row.line, "the object is empty")

"""Tasks of SuperGLUE (Wang et al. 2019) in its JSON lines: choices (COPA, ReCoRD) and pairs (MultiRC, WSC).

The first text of a choice is what all choices follow, the second has a sentence for each of them; the label is the
number of the right one, from 0.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Options
from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers.glue import known_task
from headscope.errors import HeadscopeError, plain_name
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES: tuple[str, ...] = ()
FILES = {"dev": "val.jsonl"}
ASKED = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
PLACE, HIGHLIGHT = "@placeholder", "@highlight"
Items = Iterator[Example | Skipped]


def _copa(record: Record, id: str) -> Items:
    """A premise with its question, and two sentences (Roemmele et al. 2011)."""
    if (asked := record.get("question", str)) not in ASKED:
        raise Bad(record.line, f"question '{asked[:40]}' is not one of {', '.join(ASKED)}")
    choices = (record.get("choice1", str), record.get("choice2", str))
    yield _choice(record, id, f"{record.get('premise', str)} {ASKED[asked]}", choices, record.get("label", int))


def _record(record: Record, id: str) -> Items:
    """A passage, and a sentence whose gap each name of the passage fills; other right names are no choices."""
    passage = Record(record.line, record.get("passage", dict))
    text = passage.get("text", str)
    spans = [(entity.get("start", int), entity.get("end", int) + 1) for entity in passage.records("entities")]
    names = dict.fromkeys(text[start:end] for start, end in sorted(spans))
    for number, asked in enumerate(record.records("qas"), 1):
        right = {answer.get("text", str) for answer in asked.records("answers")}
        first = next((name for name in names if name in right), "")
        choices = [name for name in names if name == first or name not in right]
        query = asked.get("query", str)
        if not first or len(choices) < 2 or PLACE not in query:
            yield Skipped("queries whose answer is no name of the passage")
            continue
        filled = tuple(query.replace(PLACE, name) for name in choices)
        before = " ".join(text.replace(HIGHLIGHT, " ").split())
        yield _choice(record, f"{id}-{number}", before, filled, choices.index(first), document=id)


def _choice(record: Record, id: str, first: str, choices: tuple[str, ...], label: int, document: str = "") -> Example:
    if not 0 <= label < len(choices):
        raise Bad(record.line, f"label {label} is not in 0..{len(choices) - 1}")
    return Example(id, (Sentence(first, document=document),), tuple(map(Sentence, choices)), str(label))


def _multirc(record: Record, id: str) -> Items:
    """A passage, and a question with one of its answers, right or wrong; a passage is a document."""
    passage = Record(record.line, record.get("passage", dict))
    first = (Sentence(passage.get("text", str), document=id),)
    for number, asked in enumerate(passage.records("questions"), 1):
        for index, answer in enumerate(asked.records("answers"), 1):
            second = f"{asked.get('question', str)} {answer.get('text', str)}"
            yield Example(f"{id}-{number}-{index}", first, (Sentence(second),), str(answer.get("label", int)))


def _wsc(record: Record, id: str) -> Items:
    """A text, and the same with a noun phrase in the place of the pronoun, as in WNLI: whether it says the same."""
    text, target = record.get("text", str), Record(record.line, record.get("target", dict))
    noun, pronoun = (target.get(f"span{number}_text", str) for number in (1, 2))
    words, at = text.split(), target.get("span2_index", int)
    phrase = " ".join(words[at : at + len(pronoun.split())]) if at >= 0 else ""
    if not phrase.lower().startswith(pronoun.lower()):
        yield Skipped("pronouns that do not stand at their index")
        return
    rest = words[at + len(pronoun.split()) :]
    second = " ".join([*words[:at], f"{noun}{phrase[len(pronoun) :]}", *rest])
    yield Example(id, (Sentence(text),), (Sentence(second),), str(record.get("label", bool)))


class SuperglueTask(NamedTuple):
    """What reads the examples of a line; the labels, none for a task of choices; metrics, the main one first."""

    examples: Callable[[Record, str], Items]
    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("accuracy",)


SUPERGLUE = {
    "COPA": SuperglueTask(_copa),
    "MultiRC": SuperglueTask(_multirc, ("0", "1"), ("f1", "accuracy")),
    "ReCoRD": SuperglueTask(_record),
    "WSC": SuperglueTask(_wsc, ("False", "True")),
}


def locate(source: str, options: Options) -> list[str]:
    """The file of a task: of its own folder, or of the folder that holds all tasks.

    `options.task` names the task (None: the folder's name), `options.split` "dev" (the default) or another file.

    Raises `HeadscopeError` if the task is unknown, or there is no such file.
    """
    path, task = Path(source), known_task(options.task or Path(source).name, source, SUPERGLUE, "SuperGLUE")
    if path.is_file():
        return [source]
    split = options.split or "dev"
    inner = [folder for folder in sorted(path.glob("*")) if plain_name(folder.name) == plain_name(task)]
    for folder in (path, *inner):
        for name in dict.fromkeys((FILES.get(split, ""), f"{split}.jsonl")):
            for file in (folder / name, folder / f"{name}.gz"):
                if name and file.is_file():
                    return [str(file)]
    wanted = FILES.get(split, f"{split}.jsonl")
    raise HeadscopeError(f"corpus '{source}': no split '{split}' of {task}; name the folder that has its {wanted}")


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """The task's examples; the label of a choice is its number."""
    task = known_task(options.task or Path(source).parent.name, source, SUPERGLUE, "SuperGLUE")
    for record in records(source):
        if not isinstance(record, Record):
            yield record
            continue
        try:
            yield from SUPERGLUE[task].examples(record, f"{Path(source).name}:{record.line}")
        except Bad as bad:
            yield bad

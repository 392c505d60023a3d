"""Tasks of GLUE (and SNLI), from the folders that GLUE is distributed in, with their labels and metrics."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Options
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers import table
from headscope.errors import HeadscopeError, plain_name, spelled, suggest
from headscope.linguistics.sentence import Example

SUFFIXES: tuple[str, ...] = ()


ENTAILS = ("entailment", "not_entailment")
INFERENCE = ("contradiction", "entailment", "neutral")
YES_NO = ("0", "1")


HUB_SPLITS = {"train": ("train",), "dev": ("validation", "validation_matched", "dev")}
FILES = {"train": ("train.tsv", "train_subset.tsv"), "dev": ("dev.tsv", "dev_matched.tsv", "heldout_subset.tsv")}


class GlueTask(NamedTuple):
    """Columns of a task's tables, labels in GLUE's numbering (none for a regression), metrics, the main one first."""

    columns: str
    labels: tuple[str, ...]
    metrics: tuple[str, ...] = ("accuracy",)


GLUE = {
    "CoLA": GlueTask("4,,2", YES_NO, ("matthews", "accuracy")),
    "MNLI": GlueTask("sentence1,sentence2,gold_label", INFERENCE),
    "MRPC": GlueTask("#1 String,#2 String,Quality", YES_NO, ("accuracy", "f1")),
    "QNLI": GlueTask("question,sentence,label", ENTAILS),
    "QQP": GlueTask("question1,question2,is_duplicate", YES_NO, ("accuracy", "f1")),
    "RTE": GlueTask("sentence1,sentence2,label", ENTAILS),
    "SNLI": GlueTask("sentence1,sentence2,gold_label", INFERENCE),
    "SST-2": GlueTask("sentence,,label", YES_NO),
    "STS-B": GlueTask("sentence1,sentence2,score", (), ("pearson", "spearman")),
    "WNLI": GlueTask("sentence1,sentence2,label", YES_NO),
}
# The names of classes by their numbers in the hub's data sets, as run_glue.py of transformers saves them in models.
NAMES = {
    "CoLA": ("unacceptable", "acceptable"),
    "MNLI": ("entailment", "neutral", "contradiction"),
    "MRPC": ("not_equivalent", "equivalent"),
    "QNLI": ENTAILS,
    "QQP": ("not_duplicate", "duplicate"),
    "RTE": ENTAILS,
    "SNLI": ("entailment", "neutral", "contradiction"),
    "SST-2": ("negative", "positive"),
    "WNLI": ("not_entailment", "entailment"),
}


def locate(source: str, options: Options) -> list[str]:
    """The file of a task: of its own folder, or of the folder that holds all tasks.

    `options.task` names the task ("mrpc"; None: the folder's name), `options.split` "dev" (the default),
    "train" or another file without its suffix ("dev_mismatched").

    Raises `HeadscopeError` if the task is unknown or the folder lacks it or the split.
    """
    path = Path(source)
    if path.is_file():
        return [source]
    if not path.is_dir():
        raise HeadscopeError(f"corpus '{source}' does not exist; name the folder of a GLUE task")
    task = known_task(options.task or path.name, source)
    folders = [path, *sorted(path.iterdir())] if options.task else [path]
    folder = next((folder for folder in folders if plain_name(folder.name) == plain_name(task)), None)
    if folder is None and table.split_file(path, [name for names in HUB_SPLITS.values() for name in names]):
        folder = path
    if folder is None:
        raise HeadscopeError(f"corpus '{source}': no folder '{task}' in it; name the folder that has it")
    return _files(folder, options.split or "dev", options)


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """The task's examples; labels as they are in the file, scores of STS-B as numbers."""
    task = known_task(options.task or Path(source).parent.name, source)
    from_hub = table.PART.fullmatch(Path(source).name) is not None
    columns = None if from_hub else GLUE[task].columns
    for item in table.examples(source, replace(options, columns=options.columns or columns)):
        if isinstance(item, Example) and task == "STS-B":
            yield _scored(item)
        else:
            yield _named(item, task) if isinstance(item, Example) and from_hub else item


def _named(example: Example, task: str) -> Example:
    """An example of the hub, with the name of its class instead of the number where classes of the task have names."""
    names = dict(zip(map(str, range(len(NAMES[task]))), NAMES[task], strict=True))
    named = set(GLUE[task].labels).issuperset(NAMES[task])
    return replace(example, label=names.get(str(example.label), example.label)) if named else example


def _scored(example: Example) -> Example | Bad:
    if example.label in (None, ""):
        return replace(example, label=None)
    try:
        return replace(example, label=float(str(example.label)))
    except ValueError:
        return Bad(int(example.id.rpartition(":")[2]), f"score '{example.label}' is not a number")


def _files(folder: Path, split: str, options: Options) -> list[str]:
    for name in FILES.get(split, (f"{split}.tsv",)):
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return [str(path)]
    if parts := table.split_file(folder, HUB_SPLITS.get(split, (split,))):
        return table.locate(str(parts), options)
    there = ", ".join(sorted(path.name for path in folder.glob("*.tsv*"))) or "no .tsv file"
    raise HeadscopeError(f"corpus '{folder}': no split '{split}'; there is: {there}")


def known_task(name: str, source: str, tasks: Iterable[str] = GLUE, benchmark: str = "GLUE") -> str:
    """A benchmark's spelling of the name of one of its tasks. Raises `HeadscopeError` for another task."""
    if task := spelled(name, tasks):
        return task
    raise HeadscopeError(f"corpus '{source}': no {benchmark} task '{name}'; {suggest(name, tasks)}")

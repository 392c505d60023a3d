"""Tasks of GLUE (and SNLI), from the folders that GLUE is distributed in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers import table
from headscope.errors import HeadscopeError, suggest
from headscope.linguistics.sentence import Example

SUFFIXES: tuple[str, ...] = ()

COLUMNS = {
    "CoLA": "4,,2",
    "MNLI": "sentence1,sentence2,gold_label",
    "MRPC": "#1 String,#2 String,Quality",
    "QNLI": "question,sentence,label",
    "QQP": "question1,question2,is_duplicate",
    "RTE": "sentence1,sentence2,label",
    "SNLI": "sentence1,sentence2,gold_label",
    "SST-2": "sentence,,label",
    "STS-B": "sentence1,sentence2,score",
    "WNLI": "sentence1,sentence2,label",
}
FILES = {
    "train": ("train.tsv", "train_subset.tsv"),
    "dev": ("dev.tsv", "dev_matched.tsv", "heldout_subset.tsv"),
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
    task = _task(options.task or path.name, source)
    folders = [path, *sorted(path.iterdir())] if options.task else [path]
    folder = next((folder for folder in folders if _plain(folder.name) == _plain(task)), None)
    if folder is None:
        raise HeadscopeError(f"corpus '{source}': no folder '{task}' in it; name the folder that has it")
    return [_file(folder, options.split or "dev")]


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """The task's examples; labels as they are in the file, scores of STS-B as numbers."""
    task = _task(options.task or Path(source).parent.name, source)
    for item in table.examples(source, replace(options, columns=options.columns or COLUMNS[task])):
        yield _scored(item) if task == "STS-B" and isinstance(item, Example) else item


def _scored(example: Example) -> Example | Bad:
    try:
        return replace(example, label=float(str(example.label)))
    except ValueError:
        return Bad(int(example.id.rpartition(":")[2]), f"score '{example.label}' is not a number")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _task(name: str, source: str) -> str:
    tasks = {_plain(task): task for task in COLUMNS}
    if _plain(name) in tasks:
        return tasks[_plain(name)]
    raise HeadscopeError(f"corpus '{source}': no GLUE task '{name}'; {suggest(name, COLUMNS)}")


def _file(folder: Path, split: str) -> str:
    for name in FILES.get(split, (f"{split}.tsv",)):
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return str(path)
    there = ", ".join(sorted(path.name for path in folder.glob("*.tsv*"))) or "no .tsv file"
    raise HeadscopeError(f"corpus '{folder}': no split '{split}'; there is: {there}")

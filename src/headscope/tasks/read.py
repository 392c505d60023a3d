"""Read a task: one of GLUE, or tables with a label column; or make one of plain text."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from headscope import corpora
from headscope.corpora import Corpus, Options
from headscope.corpora.options import DEFAULTS
from headscope.errors import HeadscopeError
from headscope.tasks.glue import GLUE, known
from headscope.tasks.task import Task

SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
SPLITS = {"train": ("train",), "dev": ("dev", "validation", "valid")}
# A column with more different whole numbers than this is a score rather than a class.
MOST_CLASSES = 20


def read(name: str, data: str | Path, options: Options = DEFAULTS, *, regression: bool | None = None) -> Task:
    """The task of a folder.

    * `name`: one of GLUE ("mrpc"), whose folder, or the folder that holds all of them, is `data`; or any other
      name, and `data` holds `train` and `dev` (or `validation`) as .tsv, .csv, .jsonl or .parquet, also gzipped.
    * `options`: how the tables are read; `columns` names their columns, `limit` applies to each split.
    * `regression`: whether labels are numbers to be predicted; None: where they are numbers that are not all whole,
      or too many to be classes.

    Raises `HeadscopeError` if the folder has no dev split, or the labels are missing or all the same.
    """
    task = known(name)
    splits = {split: _split(task, data, split, options) for split in SPLITS}
    dev, train = splits["dev"], splits["train"]
    if dev is None:
        raise HeadscopeError(f"task '{name}': no dev split in folder '{data}'; add a file dev.tsv")
    if task is not None:
        labels, metrics = GLUE[task]
        read = Task(
            name=task,
            kind="classification" if labels else "regression",
            labels=labels,
            metrics=metrics,
            dev=dev,
            train=train,
        )
    else:
        read = _of_tables(name, dev, train, regression)
    for corpus in filter(None, (dev, train)):
        _refuse_one_answer(read, corpus)
    return read


def texts(name: str, data: str | Path, options: Options = DEFAULTS) -> Corpus:
    """The dev split of a task (or `options.split`) as a corpus with the task's name; its labels do not matter.

    `name` and `data` are those of `read`. Raises `HeadscopeError` if the folder has no such split.
    """
    task, split = known(name), options.split or "dev"
    found = _split(task, data, split, options)
    if found is None:
        raise HeadscopeError(f"task '{name}': no split '{split}' in folder '{data}'; add a file {split}.tsv")
    return replace(found, name=task or name)


def masked(corpus: Corpus) -> Task:
    """To tell the words of a corpus that are behind a mask, scored by the mean loss in nats."""
    return Task(name="masked words", kind="masked", metrics=("loss",), dev=corpus)


def _split(task: str | None, data: str | Path, split: str, options: Options) -> Corpus | None:
    if task is None:
        found = _table(Path(data), split)
        return corpora.read(found, replace(options, kind="table")) if found else None
    try:
        return corpora.read(data, replace(options, kind="glue", task=task, split=split))
    except HeadscopeError as error:
        if f"no split '{split}'" in str(error) and split == "train":
            return None
        raise


def _table(folder: Path, split: str) -> Path | None:
    if not folder.is_dir():
        raise HeadscopeError(f"folder '{folder}' does not exist; name the folder with the task's train and dev tables")
    names = [
        f"{stem}{suffix}{packed}"
        for stem in SPLITS.get(split, (split,))
        for suffix in SUFFIXES
        for packed in ("", ".gz")
    ]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _of_tables(name: str, dev: Corpus, train: Corpus | None, regression: bool | None) -> Task:
    counts = Counter(str(example.label) for corpus in (dev, train) if corpus for example in corpus)
    if counts.keys() & {"None", ""}:
        remedy = "name the columns with --columns FIRST,SECOND,LABEL"
        raise HeadscopeError(f"task '{name}': {counts['None'] + counts['']} examples have no label; {remedy}")
    if _is_score(counts) if regression is None else regression:
        return Task(name=name, kind="regression", metrics=("pearson", "spearman"), dev=dev, train=train)
    metrics = ("accuracy", "f1") if len(counts) == 2 else ("accuracy", "macro_f1")
    return Task(name=name, kind="classification", labels=tuple(sorted(counts)), metrics=metrics, dev=dev, train=train)


def _is_score(counts: Counter[str]) -> bool:
    try:
        numbers = [float(label) for label in counts]
    except ValueError:
        return False
    return len(numbers) > MOST_CLASSES or not all(number.is_integer() for number in numbers)


def _refuse_one_answer(task: Task, corpus: Corpus) -> None:
    """A model cannot learn, nor a score tell, what is always the same."""
    if len(set(task.targets(corpus))) < 2:
        answer = next(iter(corpus)).label
        raise HeadscopeError(
            f"task '{task.name}': all {corpus.n_examples} examples of '{corpus.name}' have the label '{answer}'; "
            "name the right column with --columns, or read more examples"
        )

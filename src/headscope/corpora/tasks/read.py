"""Read a task of GLUE or SuperGLUE, or one of tables with a label column, or make the words of a corpus a task."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headscope import corpora
from headscope.corpora import Corpus, Options
from headscope.corpora.corpus import part
from headscope.corpora.options import DEFAULTS, with_keywords
from headscope.corpora.parsing.columns import with_labels
from headscope.corpora.parsing.lines import suffix
from headscope.corpora.readers.glue import GLUE
from headscope.corpora.readers.superglue import SUPERGLUE
from headscope.corpora.readers.table import SUFFIXES, split_file
from headscope.corpora.suites import read_suites
from headscope.corpora.tasks.inference import NAME as INFERENCE
from headscope.corpora.tasks.inference import inference
from headscope.corpora.tasks.labels import class_name, in_order, labelled, no_classes
from headscope.corpora.tasks.next_sentence import NAME as NEXT
from headscope.corpora.tasks.next_sentence import next_sentence
from headscope.corpora.tasks.shortcuts import NAME as SHORTCUTS
from headscope.corpora.tasks.shortcuts import PAIRS, corpus_of, shortcut_pairs
from headscope.corpora.tasks.task import Task, TaskKind
from headscope.errors import HeadscopeError, plain_name, spelled
from headscope.linguistics.sentence import Example, Sentence
from headscope.statistics.split_half import split_in_half
from headscope.storage.files import opening

CLOZE, WORDS, SQUAD = "cloze:", "words:", "SQuAD"
OF_TEXT = ("loss", "perplexity", "bits_per_character")
SPLITS = {"train": ("train",), "dev": ("dev", "validation", "valid", "val")}
# A column with more distinct whole numbers than this holds scores, not classes.
MOST_CLASSES = 20


@opening()
def read(
    name: str,
    data: Any = None,
    options: Options = DEFAULTS,
    *,
    regression: bool | None = None,
    labels: Sequence[str | float] | None = None,
    **keywords: Any,
) -> Task:
    """Read a task from a folder, from one table, or from texts with labels.

    * `name`: a task of GLUE ("mrpc") or SuperGLUE ("copa"), "squad", a name of your own, `cloze:` with a suite, by
      name or file, "shortcuts", "inference", "next-sentence" with a text, or `words:` with a corpus, by name or file:
      its words are predicted.
    * `data`: for one of these its folder or the folder of all of them; else a folder with `train` and
      `dev` (or `validation`) as .tsv, .csv, .jsonl or .parquet, also gzipped; or one such table, of which a half, drawn
      with seed 0, is `train`, and the other `dev`; or texts in memory, as for `headscope.read`, halved as well. A suite
      that is a file needs none.
    * `labels`: of texts in memory, one for each; without them the rows have a column of labels.
    * `options`: options of the tables; `columns` names their columns, `limit` draws from each split; it applies to
      each condition of each phenomenon of a suite, each case of "shortcuts", and texts of each number of steps of
      "inference"; `kind` is that of the text of "next-sentence". `keywords` are fields of these options by name.
    * `regression`: labels are scores to be predicted; None decides by the labels: fractions, or more than
      20 distinct numbers.

    Raises `HeadscopeError` if the folder has no dev split, or labels are missing, not finite, all the same, or in
    dev alone.
    """
    options = with_keywords(options, keywords)
    _refuse_no_name(name)
    if options.annotate and (name.startswith(CLOZE) or (plain_name(name) in GENERATED and data is None)):
        raise HeadscopeError(f"task '{name}': its items are scored as they are; leave out --annotate")
    if name.startswith(CLOZE):
        return _cloze(name, data, options)
    if name.startswith(WORDS):
        return _words(name, data, options)
    if data is None and plain_name(name) in GENERATED:
        return GENERATED[plain_name(name)](options)
    if plain_name(name) == plain_name(NEXT) and data is not None and not Path(data).is_dir():
        # WikiText's files have this suffix; elsewhere it may name anything, so that its kind has to be given.
        kind = options.kind or ("text" if suffix(str(data)) == ".raw" else None)
        return next_sentence(corpora.read(data, replace(options, kind=kind, limit=None)), options.limit)
    if data is None:
        raise HeadscopeError(f"task '{name}': its examples are missing; name their folder with --data")
    data = data if labels is None else with_labels(data, labels)
    is_table = not isinstance(data, str | Path) or Path(data).is_file()
    task = None if is_table else _benchmark(name)
    splits = _halves(data, options) if is_table else {split: _split(task, data, split, options) for split in SPLITS}
    dev, train = splits["dev"], splits["train"]
    if dev is None:
        near = "" if task else f", or name a task of GLUE: {', '.join(sorted(GLUE))}"
        raise HeadscopeError(f"task '{name}': no dev split in folder '{data}'; add a file dev.tsv{near}")
    read = _of_tables(name, dev, train, regression) if task is None else _of_benchmark(task, dev, train)
    for corpus in filter(None, (read.dev, read.train)):
        _refuse_one_answer(read, corpus)
    return read


@opening()
def _refuse_no_name(name: Any) -> None:
    if not isinstance(name, str):
        kind = type(name).__name__
        raise HeadscopeError(f"task: a {kind} is no name; give a name, then the {kind}: read_task('mine', data)")


def texts(name: str, data: str | Path, options: Options = DEFAULTS) -> Corpus:
    """Read the dev split of a task (or `options.split`) as a corpus, without regard to labels.

    * `name`, `data`, `options`: as for `read`.

    Raises `HeadscopeError` if the folder has no such split.
    """
    task, split = spelled(name, GLUE), options.split or "dev"
    corpus = _split(task, data, split, options)
    if corpus is None:
        raise HeadscopeError(f"task '{name}': no split '{split}' in folder '{data}'; add a file {split}.tsv")
    return replace(corpus, name=task or name)


def is_table(source: str | Path) -> bool:
    """True for the name of a table.

    >>> is_table("reviews.csv.gz"), is_table("wiki.txt")
    (True, False)
    """
    return str(source).removesuffix(".gz").endswith(SUFFIXES)


def masked(corpus: Corpus) -> Task:
    """The task to predict the masked words of a corpus, scored by the mean loss in nats."""
    return Task(name="masked words", kind="masked", metrics=("loss",), dev=corpus)


def words(corpus: Corpus) -> Task:
    """The task to predict the words of a corpus, scored by the mean loss of a token in nats.

    A half of its documents, drawn with seed 0, is `train`, the other `dev`; texts whose documents are not known are
    taken as independent.

    Raises `HeadscopeError` for a corpus of a single text.
    """
    if corpus.n_examples < 2:
        raise HeadscopeError(f"corpus '{corpus.name}' has one text; add more: one half is trained on, the other scored")
    chosen = split_in_half(np.array(corpus.units), seed=0)
    train, dev = (
        replace(part(corpus, np.flatnonzero(half), f"{corpus.name} ({split} half)"), drawn=corpus.drawn)
        for split, half in (("train", chosen), ("dev", ~chosen))
    )
    return Task(name=f"{WORDS}{corpus.name}", kind="words", metrics=OF_TEXT, dev=dev, train=train)


def _words(name: str, data: str | Path | None, options: Options) -> Task:
    if data is not None:
        raise HeadscopeError(f"task '{name}': its name already names its corpus; leave out --data '{data}'")
    return words(corpora.read(name.removeprefix(WORDS), replace(options, whole_documents=True)))


def _cloze(name: str, data: str | Path | None, options: Options) -> Task:
    """The items of a suite, each of which is right if its good text scores higher than the others."""
    (suite,) = read_suites([name.removeprefix(CLOZE)], data, per_condition=options.limit, skip_bad=options.skip_bad)
    examples = [
        Example(f"{number}:{item.id}", (Sentence(item.good.text),)) for number, item in enumerate(suite.items, 1)
    ]
    dev = Corpus(suite.name, suite.sha256, len(examples), suite.skipped, lambda: iter(examples))
    return Task(name=f"{CLOZE}{suite.name}", kind="cloze", metrics=("accuracy", "margin"), dev=dev, items=suite.items)


def _shortcuts(options: Options) -> Task:
    """Generated pairs on which shortcuts of inference fail; the limit is that of each case."""
    pairs = shortcut_pairs(options.limit or PAIRS)
    metrics, corpus = ("accuracy", "margin"), corpus_of(pairs)
    return Task(name=SHORTCUTS, kind="shortcuts", labels=("no", "yes"), metrics=metrics, dev=corpus, pairs=tuple(pairs))


# Tasks that need no data.
GENERATED = {SHORTCUTS: _shortcuts, INFERENCE: lambda options: inference(options.limit)}


def _benchmark(name: str) -> str | None:
    """The name of a task of GLUE, of SuperGLUE or of SQuAD as these spell it; None for another task."""
    return spelled(name, (*GLUE, *SUPERGLUE, SQUAD))


def _of_benchmark(task: str, dev: Corpus, train: Corpus | None) -> Task:
    """A task of GLUE, of SQuAD, or one of SuperGLUE: without labels it is one of choices."""
    kind: TaskKind
    if task == SQUAD:
        return Task(name=task, kind="span", metrics=("word_f1", "exact_match"), dev=dev, train=train)
    if task in GLUE:
        _, labels, metrics = GLUE[task]
        kind = "classification" if labels else "regression"
        dev, train = _labelled(task, (dev, train), no_classes(labels, scores=not labels), scores=not labels)
    else:
        _, labels, metrics = SUPERGLUE[task]
        kind = "classification" if labels else "choice"
    return Task(name=task, kind=kind, labels=labels, metrics=metrics, dev=dev, train=train)


def _halves(table: Any, options: Options) -> dict[str, Corpus | None]:
    """The examples of one table, a half for each split."""
    corpus = _drawn(table, replace(options, kind="table"))
    drawn = np.array_split(np.random.default_rng(0).permutation(corpus.n_examples), len(SPLITS))
    return {
        split: replace(part(corpus, half, f"{corpus.name} ({split} half)"), drawn=corpus.drawn)
        for split, half in zip(SPLITS, drawn, strict=True)
    }


def _split(task: str | None, data: str | Path, split: str, options: Options) -> Corpus | None:
    if task is None:
        path = _table(Path(data), split)
        return _drawn(path, replace(options, kind="table")) if path else None
    try:
        return _drawn(data, replace(options, kind=_kind(task), task=task, split=split))
    except HeadscopeError as error:
        if f"no split '{split}'" in str(error) and split == "train":
            return None
        raise


def _kind(task: str) -> str:
    """The kind of corpus that a task of a benchmark is read as."""
    return "glue" if task in GLUE else "superglue" if task in SUPERGLUE else "squad"


def _drawn(source: Any, options: Options) -> Corpus:
    """The examples of a source, or this many as the limit says, drawn from all: splits of tasks are often sorted."""
    return corpora.read(source, replace(options, from_first=False))


def _table(folder: Path, split: str) -> Path | None:
    if not folder.is_dir():
        remedy = "name the folder with the task's train and dev tables, or one table"
        raise HeadscopeError(f"{'table' if is_table(folder) else 'folder'} '{folder}' does not exist; {remedy}")
    return split_file(folder, SPLITS.get(split, (split,)))


def _of_tables(name: str, dev: Corpus, train: Corpus | None, regression: bool | None) -> Task:
    counts = Counter(class_name(example.label) for corpus in (dev, train) if corpus for example in corpus)
    scores = _is_score(counts.keys() - {"", "-"}) if regression is None else regression
    without = no_classes(counts, scores=scores)
    dev, train = _labelled(name, (dev, train), without, scores=scores)
    if scores:
        return Task(name=name, kind="regression", metrics=("pearson", "spearman"), dev=dev, train=train)
    labels = in_order(counts.keys() - without)
    metrics = ("accuracy", "f1") if len(labels) == 2 else ("accuracy", "macro_f1")
    return Task(name=name, kind="classification", labels=labels, metrics=metrics, dev=dev, train=train)


def _labelled(
    name: str, splits: tuple[Corpus, Corpus | None], without: set[str], *, scores: bool
) -> tuple[Corpus, Corpus | None]:
    """The examples of both splits that have a label. Raises `HeadscopeError` for a split without any."""
    labelled_splits = [None if corpus is None else labelled(corpus, without, scores=scores) for corpus in splits]
    for corpus in labelled_splits:
        if corpus is not None and not corpus.n_examples:
            remedy = "name the columns with --columns FIRST,SECOND,LABEL"
            raise HeadscopeError(f"task '{name}': no example of '{corpus.name}' has a label; {remedy}")
    dev, train = labelled_splits
    assert dev is not None
    return dev, train


def _is_score(counts: Collection[str]) -> bool:
    try:
        numbers = [float(label) for label in counts]
    except ValueError:
        return False
    # A label "nan" or "inf" among numbers is refused by `Task.targets`, with its example.
    return len(numbers) > MOST_CLASSES or not all(number.is_integer() for number in numbers)


def _refuse_one_answer(task: Task, corpus: Corpus) -> None:
    """Raise `HeadscopeError` if all examples of a split have one label."""
    if task.kind not in ("choice", "span") and len(set(task.targets(corpus))) < 2:
        answer = next(iter(corpus)).label
        raise HeadscopeError(
            f"task '{task.name}': all {corpus.n_examples} examples of '{corpus.name}' have the label '{answer}'; "
            "name the right column with --columns, or read more examples"
        )

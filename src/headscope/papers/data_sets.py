"""Data sets that papers used, found in a folder by their usual names, and what may stand in for them."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.storage.files import raised

DEPTH = 3  # the deepest folder below the given one in which files are looked for


@dataclass(frozen=True)
class DataFile:
    """A file that has a data set: its usual name, also packed (.gz), and how it departs from what the paper used.

    * `up`: how many folders above the file the data set is named by (GLUE: the folder of all tasks).
    """

    name: str
    deviation: str = ""
    up: int = 0


@dataclass(frozen=True)
class DataSet:
    """What a paper used, in words, the files that have it, the best first, and where it comes from."""

    words: str
    source: str
    files: tuple[DataFile, ...]


@dataclass(frozen=True)
class Found:
    """A data set that was found."""

    path: Path
    deviation: str


_EWT = "the English Web Treebank in Universal Dependencies, whose relations are other ones than Stanford's"
_GUM = "GUM's genres instead of OntoNotes; its entities include single mentions"

DATA_SETS: Mapping[str, DataSet] = {
    "paragraphs": DataSet(
        "1,000 pairs of paragraphs of Wikipedia",
        "any file of paragraphs, such as wiki.test.raw of WikiText (huggingface.co/datasets/Salesforce/wikitext)",
        (DataFile("wikipedia.txt"), DataFile("wiki.test.raw", "paragraphs of WikiText's test set, in its order")),
    ),
    "treebank": DataSet(
        "the dev or test part of the Penn Treebank in Stanford Dependencies",
        "the Linguistic Data Consortium (LDC99T42), or en_ewt-ud-dev.conllu of universaldependencies.org",
        (DataFile("ptb-dev.conllu"), DataFile("en_ewt-ud-dev.conllu", _EWT)),
    ),
    "treebank_train": DataSet(
        "the training part of the Penn Treebank in Stanford Dependencies",
        "the Linguistic Data Consortium (LDC99T42), or en_ewt-ud-train.conllu of universaldependencies.org",
        (DataFile("ptb-train.conllu"), DataFile("en_ewt-ud-train.conllu", _EWT)),
    ),
    "mentions": DataSet(
        "OntoNotes with entities and mentions (CoNLL-2012, English)",
        "the Linguistic Data Consortium (LDC2013T19), or en_gum-ud-dev.conllu of universaldependencies.org",
        (DataFile("dev.english.v4_gold_conll"), DataFile("en_gum-ud-dev.conllu", _GUM)),
    ),
    "mentions_train": DataSet(
        "OntoNotes with entities and mentions (CoNLL-2012, English), for training",
        "the Linguistic Data Consortium (LDC2013T19), or en_gum-ud-train.conllu of universaldependencies.org",
        (DataFile("train.english.v4_gold_conll"), DataFile("en_gum-ud-train.conllu", _GUM)),
    ),
    "vectors": DataSet(
        "GloVe, 100 dimensions", "nlp.stanford.edu/projects/glove (glove.6B.100d.txt)", (DataFile("glove.6B.100d.txt"),)
    ),
    "framenet": DataSet(
        "FrameNet 1.7, annotated sentences",
        "framenet.icsi.berkeley.edu, as JSON lines of annotated sentences (docs/relations.md)",
        (
            DataFile("framenet17_lu_short.jsonl"),
            DataFile("framenet15_lu_short.jsonl", "FrameNet 1.5 instead of 1.7: other and fewer sentences"),
        ),
    ),
    "glue": DataSet(
        "the tasks of GLUE",
        "gluebenchmark.com: a folder for each task (MRPC/dev.tsv, ...)",
        (DataFile("MRPC/dev.tsv", up=2), DataFile("RTE/dev.tsv", up=2), DataFile("SST-2/dev.tsv", up=2)),
    ),
    "similarity_texts": DataSet(
        "sentences of the similarity tasks of SemEval 2012 to 2016",
        "gluebenchmark.com: STS-B/dev.tsv is drawn from these tasks",
        (DataFile("STS-B/dev.tsv", "dev pairs of STS-B, which are a part of these texts"),),
    ),
    "sentiment_texts": DataSet("sentences of SST-2", "gluebenchmark.com (SST-2/dev.tsv)", (DataFile("SST-2/dev.tsv"),)),
}


def find(folder: Path, names: Iterator[str] | tuple[str, ...] | list[str]) -> dict[str, Found]:
    """The data sets of these names that a folder has (`HeadscopeError` if none), at most three folders deep."""
    if not folder.is_dir():
        raise HeadscopeError(f"folder '{folder}' does not exist; name the folder of the data sets with --data")
    files = sorted(_files(folder), key=lambda path: (len(path.parts), path))
    return {name: located for name in names if (located := _located(DATA_SETS[name], files))}


def _files(folder: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(folder, onerror=raised):
        if len(Path(directory).relative_to(folder).parts) >= DEPTH:
            folders.clear()
        yield from (Path(directory, name) for name in names)


def _located(data_set: DataSet, files: list[Path]) -> Found | None:
    for file in data_set.files:
        wanted = Path(file.name).parts
        for path in files:
            parts = (*path.parent.parts, path.name.removesuffix(".gz"))
            if parts[-len(wanted) :] == wanted:
                return Found(path.parents[file.up - 1] if file.up else path, file.deviation)
    return None

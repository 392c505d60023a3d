"""The examples that a limit takes of a corpus: drawn evenly over its documents or labels, by a fixed seed.

The first examples of a sorted file would be a sample of its beginning. Of a file that is larger than `FROM` examples
they are drawn of its beginning, which is then said: to read a gigabyte for a hundred examples would take minutes.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.corpora.stream import Marks, Sources, Stream
from headscope.linguistics.sentence import number_of
from headscope.statistics.intervals import LEAST_DOCUMENTS

# Examples of a file that are drawn from, or ten for each that is drawn.
FROM, FOR_EACH = 20_000, 10
# Labels of which each has its share; more are scores.
MOST_LABELS = 20
SEED = 0

Indices = Int[np.ndarray, " example"]


def drawn(sources: Sources) -> Sources:
    """The sources with the numbers of the examples that their limit takes; without a limit where that takes all.

    They are read once for this, without their annotation; of a data set of the hub the first are taken.
    """
    options = sources.options
    if options.limit is None or not all(map(_can_be_read_twice, sources.sources)):
        return sources
    most = max(FROM, FOR_EACH * options.limit) if options.from_first else None
    stream = Stream(replace(sources, options=replace(options, limit=most and most + 1, annotate=None)))
    marks, documents, labels = Marks(), list[int](), list[int]()
    for example in stream:
        marks.note(stream.index, stream.reading.source, stream.reading.cursor)
        documents.append(number_of(example.document))
        labels.append(number_of(str(example.label)))
    n = min(stream.index, most or stream.index)
    if n <= options.limit:
        return replace(sources, options=replace(options, limit=None))
    over, groups = _groups(documents[:n], labels[:n])
    in_documents = options.whole_documents and over == "documents"
    words = "as whole documents" if in_documents else f"evenly over {over}" if over else "evenly"
    first = "the first " if stream.index > n else ""
    chosen = (
        in_whole(groups, options.limit) if in_documents else evenly(groups, options.limit, rounded=over == "labels")
    )
    return replace(
        sources,
        chosen=chosen,
        drawn=f"{options.limit:,} of {first}{n:,}, drawn {words}, seed {SEED}",
        marks=Marks() if stream.reading.repeated else marks,
        left_out=Counter(bad=stream.reading.skipped["bad"]),
    )


def _can_be_read_twice(source: Any) -> bool:
    return os.path.isfile(source) if isinstance(source, str) else type(source).__name__ != "IterableDataset"


def evenly(groups: Indices, number: int, *, rounded: bool = False) -> Indices:
    """Indices of this many examples, in order: each group has its share, rounded up or down at random.

    * `rounded`: round shares to the nearest: of a few groups none is then missed, of many small ones all might be.

    >>> evenly(np.repeat([0, 1], [6, 3]), 3).tolist()
    [2, 3, 8]
    """
    random, sizes = np.random.default_rng(SEED), np.bincount(groups)
    order = np.lexsort((random.random(len(groups)), groups))
    within = np.arange(len(groups)) - (np.cumsum(sizes) - sizes)[groups[order]]
    start = np.full(len(sizes), 0.5) if rounded else random.random(len(sizes))
    ranks = (within + start[groups[order]]) / sizes[groups[order]]
    return np.sort(order[np.lexsort((random.random(len(groups)), ranks))[:number]])


def in_whole(groups: Indices, number: int) -> Indices:
    """Indices of this many examples, in order: of whole groups in random order, the last one cut short.

    >>> in_whole(np.repeat([0, 1], [6, 3]), 4).tolist()
    [0, 6, 7, 8]
    """
    order_of_groups = np.random.default_rng(SEED).random(groups.max() + 1)
    return np.sort(np.lexsort((np.arange(len(groups)), order_of_groups[groups]))[:number])


def _groups(documents: Sequence[int], labels: Sequence[int]) -> tuple[str, Indices]:
    """What examples are drawn over, in words, and the group of each: its document, else its label, if there are few."""
    for over, values in {"documents": documents, "labels": labels}.items():
        names, groups = np.unique(values, return_inverse=True)
        least, most = (LEAST_DOCUMENTS, len(values) - 1) if over == "documents" else (2, MOST_LABELS)
        if least <= len(names) <= most:
            return over, groups
    return "", np.zeros(len(documents), dtype=int)

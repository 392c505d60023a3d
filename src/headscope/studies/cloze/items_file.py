"""The file of the scores of all items."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headscope.corpora.suites import ClozeItem
from headscope.storage.files import write_atomically
from headscope.studies.cloze.item_scores import ItemScores

FILE = "items.csv"
COLUMNS = ("id", "phenomenon", "score_good", "score_bad", "suite")


def write_items(
    directory: Path, items: Sequence[ClozeItem], suites: Sequence[str], own: ItemScores, wanted: bool
) -> None:
    """Write the scores of all items; without `wanted` remove those of an earlier run, which had other scores.

    * `suites`: the suite of each item: items of two suites may have the same id.
    """
    if not wanted:
        (directory / FILE).unlink(missing_ok=True)
        return
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item, suite, *scores in zip(items, suites, own.good.tolist(), own.bad.tolist(), strict=True):
        numbers = ("" if np.isnan(score) else f"{score:.6f}" for score in scores)
        writer.writerow([item.id, item.phenomenon, *numbers, suite])
    write_atomically(directory / FILE, content.getvalue())

"""A further command of `patterns`: score the classifier on labelled maps."""

from pathlib import Path
from typing import Any

from headscope.studies.heads.patterns import classifier, labelled_maps, scores


def evaluate(maps: Path, weights: Path | None = None) -> dict[str, Any]:
    """Score the classifier on a folder of labelled maps.

    Returns: `accuracy`, `macro_f1` and `f1` by pattern, with intervals over texts.

    Arguments:

    * `maps`: Folder of labelled maps: maps.npz and labels.jsonl.
    * `weights`: Weights of another classifier; by default the built-in classifier.

    Raises `HeadscopeError` if the folder has no labelled maps.
    """
    return scores.evaluate(labelled_maps.read(maps), classifier.load(weights))

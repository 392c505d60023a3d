"""Labelled maps as files: what `headscope.studies.heads.patterns.labelled_maps` reads."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headscope.storage.files import replacing, write_atomically
from headscope.studies.heads.patterns.labelled_maps import ARRAYS, LABELS, Map, lines

VOTES = ("annotator", "annotator_a", "annotator_b")


def labels(path: str | Path) -> dict[int, str]:
    """The label of each map, by its id, of a file of labels alone; "" while it has none.

    Raises `HeadscopeError`, with the line, where it is not as written above.
    """
    return {line["id"]: line["label"] for _, line in lines(Path(path))}


def write(folder: str | Path, maps: Sequence[Map]) -> None:
    """Write maps as `read` reads them (attention as float16), each file whole or not at all.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    folder = Path(folder)
    values = [labelled.attention.astype(np.float16).ravel() for labelled in maps]  # each [query x key]
    arrays = {
        "length": np.array([len(labelled.attention) for labelled in maps], np.int32),
        "values": np.concatenate(values) if values else np.zeros(0, np.float16),
        "id": np.array([labelled.id for labelled in maps], np.int32),
    }
    with replacing(folder / ARRAYS, lasting=True) as scratch:
        np.savez_compressed(scratch, **arrays)  # type: ignore[arg-type]
    write_labels(folder / LABELS[0], maps)


def write_labels(path: Path, maps: Sequence[Map]) -> None:
    """Write `labels.jsonl` alone, whole or not at all; it then survives a power cut."""
    content = "".join(json.dumps(_line(labelled), ensure_ascii=False) + "\n" for labelled in maps)
    write_atomically(path, content, lasting=True)


def _line(map_: Map) -> dict[str, Any]:
    """The fields of a map, in the order in which they are written."""
    held = vars(map_) | {"length": len(map_.attention)}
    order = ("id", "label", *VOTES, "model", "corpus", "layer", "head", "length", "tokens", "token_class")
    return {name: held[name] for name in order if held[name] or name in ("id", "label")}

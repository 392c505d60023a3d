"""Labelled attention maps on the disk: `maps.npz` and `labels.jsonl` (or `.jsonl.gz`), in the same order.

`maps.npz` holds `length` [n], `values` (the maps, each length x length, rows are queries, one after another) and
`id` [n].
A line of `labels.jsonl` has `id`, `label`, `length` and `tokens`; everything else is optional.
"""

import gzip
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from headscope.errors import HeadscopeError
from headscope.results import PATTERNS, TOKEN_CLASSES

ARRAYS, LABELS = "maps.npz", ("labels.jsonl", "labels.jsonl.gz")
SPECIAL = {"[CLS]": "cls", "<s>": "cls", "[SEP]": "sep", "</s>": "sep", ".": "punct", ",": "punct"}


@dataclass(frozen=True)
class Map:
    """The attention of one head to one input, and the pattern that it was labelled with.

    * `attention`: [query, key]; rows sum to 1.
    * `tokens`: the input; maps of the same tokens are one group, which no split tears apart.
    * `label`: one of `results.PATTERNS`; "" while it has none.
    * `token_class`: of each token, in `results.TOKEN_CLASSES`; where a file has none it is told from the tokens.
    * `layer`, `head`: from 1; 0 where they are not known.
    * `annotator`: the name of who gave the label; "" where it is not known.
    * `annotator_a`, `annotator_b`: the labels of two who labelled it independently; "" where it has none.
    """

    id: int
    attention: Float[np.ndarray, "token token"]
    tokens: tuple[str, ...]
    label: str = ""
    token_class: tuple[str, ...] = ()
    model: str = ""
    corpus: str = ""
    layer: int = 0
    head: int = 0
    annotator_a: str = ""
    annotator_b: str = ""
    annotator: str = ""

    @property
    def classes(self) -> Float[np.ndarray, " token"]:
        """The number of each token's class in `results.TOKEN_CLASSES`."""
        names = self.token_class or tuple(SPECIAL.get(token, "other") for token in self.tokens)
        return np.array([TOKEN_CLASSES.index(name) for name in names])


def read(folder: str | Path) -> list[Map]:
    """The maps of a folder, in their order.

    Raises `HeadscopeError`, with the line, where they are not as written above.
    """
    folder = Path(folder)
    lines = list(_lines(_labels(folder)))
    attention, ids = _attention(folder / ARRAYS)
    if len(attention) != len(lines):
        raise HeadscopeError(
            f"'{folder}': {ARRAYS} has {len(attention)} maps, {_labels(folder).name} has {len(lines)} lines; "
            "write a line for each map, in the same order"
        )
    return [
        _map(where, line, each, number)
        for (where, line), each, number in zip(lines, attention, ids.tolist(), strict=True)
    ]


def write(folder: str | Path, maps: Sequence[Map]) -> None:
    """Write maps as `read` reads them (attention as float16), each file whole or not at all.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    folder = Path(folder)
    values = [each.attention.astype(np.float16).ravel() for each in maps]
    arrays = {
        "length": np.array([len(each.attention) for each in maps], np.int32),
        "values": np.concatenate(values) if values else np.zeros(0, np.float16),
        "id": np.array([each.id for each in maps], np.int32),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f".new-{ARRAYS}"
        np.savez_compressed(scratch, **arrays)  # type: ignore[arg-type]
        os.replace(scratch, folder / ARRAYS)
        write_labels(folder / LABELS[0], maps)
    except OSError as error:
        raise HeadscopeError(
            f"'{folder}' cannot be written: {error.strerror or error}; choose another folder"
        ) from error


def write_labels(path: Path, maps: Sequence[Map]) -> None:
    """Write `labels.jsonl` alone, whole or not at all."""
    scratch = path.with_name(f".new-{path.name}")
    scratch.write_text("".join(json.dumps(_line(each), ensure_ascii=False) + "\n" for each in maps), encoding="utf-8")
    os.replace(scratch, path)


def _line(map_: Map) -> dict[str, Any]:
    """What is known of a map, in the order in which it is written."""
    known = asdict(map_) | {"length": len(map_.attention)}
    order = (
        "id",
        "label",
        "annotator",
        "annotator_a",
        "annotator_b",
        "model",
        "corpus",
        "layer",
        "head",
        "length",
        "tokens",
    )
    return {name: known[name] for name in (*order, "token_class") if known[name] or name == "label"}


def labels(path: str | Path) -> dict[int, str]:
    """The label of each map, by its id, of a file of labels alone; "" while it has none.

    Raises `HeadscopeError`, with the line, where it is not as written above.
    """
    found: dict[int, str] = {}
    for where, line in _lines(Path(path)):
        label = line.get("label") or ""
        if not isinstance(line.get("id"), int) or label not in ("", *PATTERNS):
            raise HeadscopeError(f"{where}: it needs a whole number as id and a label of {', '.join(PATTERNS)}")
        found[line["id"]] = label
    return found


def _labels(folder: Path) -> Path:
    for name in LABELS:
        if (folder / name).is_file():
            return folder / name
    raise HeadscopeError(f"'{folder}' has no {' or '.join(LABELS)}; name a folder of labelled maps")


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise HeadscopeError(f"'{path}' cannot be read: {error}; it must be UTF-8 text") from error
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        where = f"'{path}', line {number}"
        try:
            parsed = json.loads(line)
        except ValueError as error:
            raise HeadscopeError(f"{where}: not JSON ({error}); write one object a line") from error
        if not isinstance(parsed, dict):
            raise HeadscopeError(f"{where}: not an object; write one object a line")
        yield where, parsed


def _attention(path: Path) -> tuple[list[Float[np.ndarray, "token token"]], np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            lengths, values, ids = (stored[name] for name in ("length", "values", "id"))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise HeadscopeError(f"'{path}' cannot be read: {error}; it needs the arrays length, values and id") from error
    cells = lengths.astype(np.int64) ** 2
    if len(ids) != len(lengths) or (lengths < 1).any() or cells.sum() != len(values):
        raise HeadscopeError(
            f"'{path}': length, values and id do not fit together; values needs length x length for each"
        )
    parts = np.split(values.astype(np.float32), np.cumsum(cells)[:-1])
    return [part.reshape(length, length) for part, length in zip(parts, lengths, strict=True)], ids


def _map(where: str, line: dict[str, Any], attention: Float[np.ndarray, "token token"], id: int) -> Map:
    tokens, label, classes = line.get("tokens"), line.get("label", ""), line.get("token_class", ())
    if line.get("id") != id:
        raise HeadscopeError(f"{where}: id {line.get('id')} is not that of the map, {id}; keep both files in one order")
    if label not in ("", *PATTERNS):
        raise HeadscopeError(f"{where}: label '{label}' is not one of {', '.join(PATTERNS)}")
    if not isinstance(tokens, list) or len(tokens) != len(attention):
        raise HeadscopeError(f"{where}: tokens must be a list of {len(attention)}, as long as the map")
    if classes and (len(classes) != len(tokens) or set(classes) - set(TOKEN_CLASSES)):
        raise HeadscopeError(f"{where}: token_class must be {len(tokens)} of {', '.join(TOKEN_CLASSES)}")
    given: dict[str, Any] = {
        name: line[name] for name in ("model", "corpus", "layer", "head", "annotator") if name in line
    }
    votes: dict[str, Any] = {name: line.get(name) or "" for name in ("annotator_a", "annotator_b")}
    return Map(id, attention, tuple(tokens), label, tuple(classes), **given, **votes)

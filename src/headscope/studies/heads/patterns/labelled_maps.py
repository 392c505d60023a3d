"""Labelled attention maps on the disk: `maps.npz` and `labels.jsonl` (or `.jsonl.gz`), in the same order.

`maps.npz` holds `length` [n], `values` (the maps, each length x length, rows are queries, one after another) and
`id` [n]. A line of `labels.jsonl` is a JSON object: `id`, `label` ("" while there is none), `tokens`, and optionally
`token_class` (of each token: cls, sep, punct, other), `model`, `corpus`, `layer` and `head` (from 1), `annotator`,
`annotator_a` and `annotator_b`. Other fields are not read.
"""

import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from headscope.corpora.parsing.json_lines import parse
from headscope.corpora.parsing.lines import lines as file_lines
from headscope.corpora.parsing.lines import opened
from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS, TOKEN_CLASSES
from headscope.storage.files import opening

ARRAYS, LABELS = "maps.npz", ("labels.jsonl", "labels.jsonl.gz")
SPECIAL = {"[CLS]": "cls", "<s>": "cls", "[SEP]": "sep", "</s>": "sep", ".": "punct", ",": "punct"}
NAMES = ("model", "corpus", "annotator", "annotator_a", "annotator_b")
NUMBERS = ("layer", "head")


@dataclass(frozen=True)
class Map:
    """The attention of one head to one input, and the pattern that it was labelled with.

    * `attention`: [query, key]; rows sum to 1.
    * `tokens`: the input; maps of the same tokens are one group, which no split tears apart.
    * `label`: one of `results.PATTERNS`; "" while it has none.
    * `token_class`: of each token, in `results.TOKEN_CLASSES`; where a file has none it follows from the tokens.
    * `layer`, `head`: from 1; 0 where the file has none.
    * `annotator`: the name of the annotator; "" where the file has none.
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
    def classes(self) -> Int[np.ndarray, " token"]:
        """The number of each token's class in `results.TOKEN_CLASSES`."""
        names = self.token_class or tuple(SPECIAL.get(token, "other") for token in self.tokens)
        return np.array([TOKEN_CLASSES.index(name) for name in names])


@opening()
def read(folder: str | Path) -> list[Map]:
    """The maps of a folder, in their order.

    Raises `HeadscopeError`, with the line, where they are not as written above.
    """
    path = _labels(Path(folder))
    described = list(lines(path))
    attention, ids = _arrays(Path(folder) / ARRAYS)
    if len(attention) != len(described):
        raise HeadscopeError(
            f"'{folder}': {ARRAYS} has {len(attention)} maps, {path.name} has {len(described)} lines; "
            "write a line for each map, in the same order"
        )
    maps = []
    for (where, line), values, id in zip(described, attention, ids, strict=True):
        if line["id"] != id:
            raise HeadscopeError(f"{where}: id {line['id']} is not that of the map, {id}; keep both in the same order")
        maps.append(Map(id, values, **map_fields(where, line, len(values))))
    return maps


def _labels(folder: Path) -> Path:
    for name in LABELS:
        if (folder / name).is_file():
            return folder / name
    raise HeadscopeError(f"'{folder}' has no {' or '.join(LABELS)}; name a folder of labelled maps")


def _arrays(path: Path) -> tuple[list[Float[np.ndarray, "token token"]], list[int]]:
    """The maps, and their ids."""
    try:
        with opened(path, "maps") as file, np.load(file, allow_pickle=False) as stored:
            lengths, values, ids = (_numbers(stored[name]) for name in ("length", "values", "id"))
    except (ArithmeticError, AttributeError, KeyError, MemoryError, RuntimeError, SyntaxError, TypeError, ValueError,
            zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        reason = f"{error} ".splitlines()[0]
        raise HeadscopeError(f"'{path}' cannot be read: {reason}; it needs the arrays length, values and id") from error
    ends = (lengths.astype(np.int64) ** 2).cumsum()
    fit = len(ids) == len(lengths) and not (lengths < 1).any() and (ends[-1] if len(ends) else 0) == len(values)
    if not fit or not np.isfinite(values).all():
        raise HeadscopeError(
            f"'{path}': length, values and id do not fit together; values needs length x length numbers for each"
        )
    parts = np.split(values.astype(np.float32), ends)
    # each [query, key]
    return [part.reshape(length, length) for part, length in zip(parts, lengths.tolist(), strict=False)], ids.tolist()


def _numbers(array: np.ndarray) -> np.ndarray:
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ValueError(f"an array of {array.dtype} with {array.ndim} dimensions")
    return array


def lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line, after its place ("file, line 3").

    Raises `HeadscopeError` for a line that is no object, or has no whole number as id or none of the labels.
    """
    for number, text in file_lines(path, "labels"):
        where = f"'{path}', line {number}"
        try:
            line = parse(text)
        except ValueError as error:
            raise HeadscopeError(f"{where}: not JSON ({error}); write one object a line") from error
        if not isinstance(line, dict):
            raise HeadscopeError(f"{where}: not an object; write one object a line")
        if type(line.get("id")) is not int:
            raise HeadscopeError(f"{where}: id {repr(line.get('id'))[:40]} is not a whole number; correct it")
        line["label"] = line.get("label") or ""
        if line["label"] not in ("", *PATTERNS):
            raise HeadscopeError(
                f"{where}: label {str(line['label'])[:40]!r} is not one of {', '.join(PATTERNS)}; correct it"
            )
        yield where, line


def map_fields(where: str, line: dict[str, Any], length: int) -> dict[str, Any]:
    """The fields of a line that describe a map of `length` tokens.

    Raises `HeadscopeError` for fields that do not fit to the map.
    """
    tokens: Any = line.get("tokens")
    classes: Any = line.get("token_class") or []
    if not _are(tokens, str) or len(tokens) != length:
        raise HeadscopeError(f"{where}: tokens must be a list of {length}, as long as the map; correct it")
    if classes and (not _are(classes, str) or len(classes) != length or set(classes) - set(TOKEN_CLASSES)):
        raise HeadscopeError(f"{where}: token_class must be {length} of {', '.join(TOKEN_CLASSES)}; correct it")
    names = {name: line.get(name) or "" for name in NAMES}
    numbers = {name: line.get(name) or 0 for name in NUMBERS}
    for kind, kinds in ((str, names), (int, numbers)):
        for name, value in kinds.items():
            if not isinstance(value, kind):
                wanted = "name" if kind is str else "number"
                raise HeadscopeError(f"{where}: {name} {repr(value)[:40]} is not a {wanted}; correct it")
    return {"label": line["label"], "tokens": tuple(tokens), "token_class": tuple(classes), **names, **numbers}


def _are(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)

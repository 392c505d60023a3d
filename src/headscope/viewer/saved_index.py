"""A saved index of examples: written, read and checked, and its entries; and what folders have about a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.cards import MeasuredModel, gather
from headscope.report.kinds import COLOURS, head_kinds, kind_words
from headscope.storage.files import files_within, opening

if TYPE_CHECKING:
    from headscope.models import Model

FILE = "examples.nc"
RANKED = ("focus", "layer", "head", "rank")
DIMS = {"value": RANKED, "text": RANKED, "first": ("kept_text",), "second": ("kept_text",)}
DIGITS = 5


def save(index: xr.Dataset, directory: str | Path) -> Path:
    """Write `directory/examples.nc`, whole or not at all."""
    return results.save(index, directory, FILE)


def read_index(path: Path) -> xr.Dataset:
    """Read an index into memory. Raises `HeadscopeError` if the file is no index."""
    index = results.read(path)
    if any(name not in index or index[name].dims != dims for name, dims in DIMS.items()) or not _has_its_texts(index):
        raise HeadscopeError(f"index '{path}' is damaged or of another program; make it again with 'headscope index'")
    return index


def entries(index: xr.Dataset, layer: int, head: int, focus: str) -> list[dict[str, Any]]:
    """The examples of a head and a focus, the highest value first: text, value, and the second text of a pair."""
    chosen = index.sel(layer=layer, head=head, focus=focus)
    first, second = index["first"].values, index["second"].values
    pairs = zip(chosen["value"].values.tolist(), chosen["text"].values.tolist(), strict=True)
    return [
        {"text": str(first[text]), "value": value} | ({"second": str(second[text])} if second[text] else {})
        for value, text in pairs
        if text >= 0
    ]


def _has_its_texts(index: xr.Dataset) -> bool:
    """True if the numbers are those of texts, and the values are numbers where there is a text."""
    text, value = index["text"], index["value"]
    if text.dtype.kind != "i" or value.dtype.kind != "f" or not all(name in index.coords for name in RANKED[:3]):
        return False
    return bool((text < index.sizes["kept_text"]).all() and (value.notnull() | (text < 0)).all())


@opening()
def read_folders(folders: Sequence[str | Path]) -> tuple[list[MeasuredModel], list[xr.Dataset]]:
    """Read all results about heads and all indexes of examples in some folders. Returns: both.

    Raises `HeadscopeError` if there is neither, or a file is damaged.
    """
    indexes = [read_index(path) for folder in folders for path in files_within(Path(folder), FILE)]
    with_results = [folder for folder in folders if not indexes or files_within(Path(folder), "result.nc")]
    measured = gather(with_results)
    if folders and not measured and not indexes:
        raise HeadscopeError(f"none of the results in '{folders[0]}' is about heads; 'headscope profile' makes one")
    return measured, indexes


def results_about(models: Sequence["Model"], measured: Sequence[MeasuredModel]) -> tuple[MeasuredModel | None, ...]:
    """The results about each model; None without results. Raises `HeadscopeError` if all are about other models."""
    about = [[result for result in measured if _is_about(model, result.sha256, result.names)] for model in models]
    if measured and not any(about):
        names, others = (", ".join(result.name for result in several) for several in (models, measured))
        raise HeadscopeError(f"no result is about model '{names}', but about {others}; name that model")
    return tuple(next(iter(result), None) for result in about)


def index_about(model: "Model", indexes: Sequence[xr.Dataset]) -> xr.Dataset | None:
    """The index of examples of a model; None without any. Raises `HeadscopeError` if all are of other models."""
    same = [result for result in indexes if _is_about(model, result.attrs["model_sha256"], [result.attrs["model"]])]
    if indexes and not same:
        others = ", ".join(str(result.attrs["model"]) for result in indexes)
        raise HeadscopeError(f"no index of examples is of model '{model.name}', but of {others}; name that model")
    return same[0] if same else None


def _is_about(model: "Model", sha256: str | None, names: Sequence[str]) -> bool:
    """True for the same weights; by the name where a model is in no file."""
    return model.sha256 == sha256 if model.sha256 and sha256 else model.name in names


def model_numbers(measured: MeasuredModel | None) -> dict[str, Any]:
    """All numbers of a model's heads and layers, what the heads do by them, names and colours of these kinds."""
    kinds = head_kinds([source.result for source in measured.sources] if measured else [])
    names, meanings = kind_words(measured.sources[0].result.attrs if measured else {})
    return {
        "numbers": head_numbers(measured) if measured else [],
        "layers": [{"words": layer.words, "best": layer.chosen} for layer in measured.layers] if measured else [],
        "kinds": [[*head, kind.kind, kind.word] for head, several in kinds.items() for kind in several[:1]],
        "colours": COLOURS,
        "names": names,
        "meanings": meanings,
    }


def head_numbers(measured: MeasuredModel) -> list[dict[str, Any]]:
    """All numbers of a model's heads, each with a name of its own, in the order of the results.

    A name is the address of the number (`attention_to.sep`); a number of a second result has its place after it.
    """
    entries: list[dict[str, Any]] = []
    groups: Any = measured.numbers.groupby(["source", "variable", "labels"], sort=False, dropna=False)
    for (source, variable, labels), rows in groups:
        name = ".".join([str(variable), *labels])
        again = sum(entry["address"] == name for entry in entries)
        words = str(rows["words"].iloc[0])
        values = zip(rows["layer"], rows["head"], rows["value"], strict=True)
        attrs = measured.sources[int(source)].result.attrs
        entries.append(
            {
                "name": f"{name} ({again + 1})" if again else name,
                "address": name,
                "long_name": ": ".join(filter(None, [str(rows["long_name"].iloc[0]), words])),
                "units": str(rows["units"].iloc[0]),
                "study": str(attrs["study"]),
                "corpus": str(attrs["corpus"]),
                "values": [[int(layer), int(head), float(f"{value:.{DIGITS}g}")] for layer, head, value in values],
            }
        )
    return entries

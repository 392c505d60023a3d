"""Data sets of the Hugging Face hub (hub:NAME or hub:NAME:CONFIG), or a folder that `datasets` saved."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headscope.catalog import require
from headscope.corpora.options import Options
from headscope.corpora.parsing import columns
from headscope.corpora.problems import Bad
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.storage.files import names_full_disk
from headscope.storage.limits import SECONDS, limit_waiting

SUFFIXES: tuple[str, ...] = ()
PREFERRED = ("validation", "dev", "test", "train")
# Builders of `datasets` that read text and Arrow alone; others unpickle, decode media or run queries.
BUILDERS = ("arrow", "cache", "csv", "json", "parquet", "text")


def locate(source: str, options: Options) -> list[str]:
    """The data set itself; it is read as a stream, not stored."""
    return [source]


def examples(source: str, options: Options) -> Iterator[Example | Bad]:
    """Each row of `options.split` (None: validation, test or train, the first that there is); classes by their names.

    Raises `HeadscopeError` if the data set cannot be reached or has no such split or columns.
    """
    return columns.examples(_rows(source, options.split), options, source=source, name=Path(source).name)


def _rows(source: str, split: str | None) -> Iterator[Mapping[str, object]]:
    try:
        data = _pick(_load(source), split, source)
        features = data.features or {}
        for row in data:
            yield {name: _readable(features.get(name), value) for name, value in row.items()}
    except HeadscopeError:
        raise
    except Exception as error:  # the libraries under `datasets` raise their own kinds for a lost network
        reason = str(error).partition("\n")[0] or type(error).__name__
        remedy = "check the network and hub:NAME:CONFIG, or name a file"
        if names_full_disk(error):
            remedy = "make room, or name another folder as HF_HOME"
        raise HeadscopeError(f"corpus '{source}' cannot be read: {reason}; {remedy}") from error


def _load(source: str) -> Any:
    datasets = require("datasets")
    from huggingface_hub import HfApi, constants

    if Path(source).is_dir():
        saved = any((Path(source) / name).is_file() for name in ("dataset_dict.json", "state.json"))
        if saved:
            return datasets.load_from_disk(source)
        _refuse_other_builders(source, None)
        return datasets.load_dataset(source, streaming=True)
    name, _, config = source.partition(":")
    limit_waiting()
    if not constants.HF_HUB_OFFLINE:
        # first, since `datasets` tries for half a minute where there is no network
        HfApi().dataset_info(name, timeout=SECONDS)
    _refuse_other_builders(name, config or None)
    return datasets.load_dataset(name, config or None, streaming=not constants.HF_HUB_OFFLINE)


def _refuse_other_builders(name: str, config: str | None) -> None:
    """Raise `HeadscopeError` unless `datasets` would read the data set as text or Arrow; it opens no data for this."""
    import datasets

    builder = type(datasets.load_dataset_builder(name, config)).__module__.rpartition(".")[2]
    if builder not in BUILDERS:
        raise HeadscopeError(
            f"corpus '{name}' is read as {builder}, which may unpickle or decode its files; only "
            f"{', '.join(BUILDERS[2:])} are read: convert it to one of them"
        )


def _pick(data: Any, split: str | None, source: str) -> Any:
    if not isinstance(data, dict):
        return data
    wanted = (
        [split] if split else [name for start in PREFERRED for name in data if name.startswith(start)] or list(data)
    )
    if wanted[0] not in data:
        raise HeadscopeError(f"corpus '{source}': no split '{split}'; there are: {', '.join(data)}")
    return data[wanted[0]]


def _readable(feature: Any, value: object) -> object:
    if not hasattr(feature, "int2str") or not isinstance(value, int):
        return value
    # rows without a label have -1 in the hub's data sets
    return feature.int2str(value) if value >= 0 else None

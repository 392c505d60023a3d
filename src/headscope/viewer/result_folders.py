"""The results and the indexes of examples in some folders."""

from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from headscope.errors import HeadscopeError
from headscope.report.cards import MeasuredModel, gather
from headscope.storage.files import files_within, opening
from headscope.viewer.saved_index import indexes_in, read_index


@opening()
def read_folders(folders: Sequence[str | Path]) -> tuple[list[MeasuredModel], list[xr.Dataset]]:
    """Read all results about heads and all indexes of examples in some folders. Returns: both.

    Raises `HeadscopeError` if there is neither, or a file is damaged.
    """
    indexes = [read_index(path) for folder in folders for path in indexes_in(folder)]
    with_results = [each for each in folders if not indexes or files_within(Path(each), "result.nc")]
    measured = gather(with_results)
    if folders and not measured and not indexes:
        raise HeadscopeError(f"none of the results in '{folders[0]}' is about heads; 'headscope profile' makes one")
    return measured, indexes

"""Freed memory leaves the process."""

import sys

import numpy as np
import psutil
import pytest

from headscope.passes.allocator import return_freed_memory

MIB = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="malloc_trim is of glibc")
def test_gaps_between_arrays_that_are_kept_are_given_back() -> None:
    process, size = psutil.Process(), 100_000  # bytes, below the size for which an array has a mapping of its own
    arrays = [np.ones(size, np.uint8) for _ in range(600)]
    kept = arrays[::20]
    full = process.memory_info().rss
    arrays.clear()
    return_freed_memory()
    assert process.memory_info().rss < full - 30 * MIB and len(kept) == 30

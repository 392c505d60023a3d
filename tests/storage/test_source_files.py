"""Hashes of files."""

from pathlib import Path

import pytest

from headscope.errors import HeadscopeError
from headscope.storage.source_files import sha256_of


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="no file fails to be read")
def test_a_file_that_the_disk_does_not_give_is_one_line():
    with pytest.raises(HeadscopeError, match=r"'/proc/self/mem' cannot be read: Input/output error; check the disk$"):
        sha256_of(["/proc/self/mem"])

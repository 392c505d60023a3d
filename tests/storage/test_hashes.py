"""Hashes of files; what a digest promises is on the disk before the digest is."""

from pathlib import Path

import pytest

from headscope.errors import HeadscopeError
from headscope.storage.hashes import add_digest, damaged, sha256_of
from support.synced import order_of_calls


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="no file fails to be read")
def test_a_file_that_the_disk_does_not_give_is_one_line():
    with pytest.raises(HeadscopeError, match=r"'/proc/self/mem' cannot be read: Input/output error; check the disk$"):
        sha256_of(["/proc/self/mem"])


def test_a_folder_is_on_the_disk_before_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model"
    (model / "below").mkdir(parents=True)
    for name in ("a", "below/b"):
        (model / name).write_text("weights")
    calls = order_of_calls(lambda: add_digest(model, model), monkeypatch)
    assert sorted(calls[:-1]) == ["sync file", "sync file", "sync folder", "sync folder"]
    assert calls[-1] == "sync file"  # of the digests
    assert damaged([model]) is None

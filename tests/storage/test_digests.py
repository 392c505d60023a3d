"""What a digest promises is on the disk before the digest is."""

from pathlib import Path

import pytest

from headscope.storage.digests import add_digest, damaged
from support.synced import order_of_calls


def test_a_folder_is_on_the_disk_before_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model"
    (model / "below").mkdir(parents=True)
    for name in ("a", "below/b"):
        (model / name).write_text("weights")
    calls = order_of_calls(lambda: add_digest(model, model), monkeypatch)
    assert sorted(calls[:-1]) == ["sync file", "sync file", "sync folder", "sync folder"]
    assert calls[-1] == "sync file"  # of the digests
    assert damaged([model]) is None

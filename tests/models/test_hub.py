"""Files of hub models: a failed download names its reason."""

import errno
from pathlib import Path

import pytest

from headscope import HeadscopeError
from headscope.models import hub


def test_a_full_cache_is_no_lost_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **options: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(hub, "_is_reachable", lambda *given: True)
    monkeypatch.setattr("huggingface_hub.snapshot_download", full)
    with pytest.raises(HeadscopeError, match=r"'some/bert': no space left on the disk .*; make room in '.*', or name"):
        hub.download("some/bert", None)

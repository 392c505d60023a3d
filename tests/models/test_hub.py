"""Files of hub models: a failed download names its reason."""

from collections.abc import Callable

import pytest

from headscope import HeadscopeError
from headscope.models import hub


def test_a_full_cache_is_no_lost_network(monkeypatch: pytest.MonkeyPatch, full_disk: Callable) -> None:
    monkeypatch.setattr(hub, "_is_reachable", lambda *given: True)
    full_disk("huggingface_hub.snapshot_download")
    with pytest.raises(HeadscopeError, match=r"'some/bert': no space left on the disk .*; make room in '.*', or name"):
        hub.download("some/bert", None)

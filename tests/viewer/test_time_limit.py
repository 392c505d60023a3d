"""A pass that takes too long ends, and leaves the model as it was."""

import pytest
import torch

from headscope import models
from headscope.viewer import time_limit as module
from headscope.viewer.text_maps import text_maps
from headscope.viewer.text_tokens import text_tokens
from headscope.viewer.time_limit import TimeUp, time_limit
from support.tiny import tiny_bert, tiny_tokenizer


def test_a_pass_ends_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.wrap(tiny_bert(), tiny_tokenizer())
    text = text_tokens(model.tokenizer, 64, "The old cat sat.")
    expected = text_maps(model, text).levels
    times = iter([0.0] * 10 + [100.0] * 1000)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(times))
    with pytest.raises(TimeUp, match="longer than 60 s"), time_limit(model.network, 60):
        text_maps(model, text)
    monkeypatch.undo()
    assert not any(each._forward_pre_hooks for each in model.network.modules())
    assert torch.equal(torch.from_numpy(text_maps(model, text).levels), torch.from_numpy(expected))

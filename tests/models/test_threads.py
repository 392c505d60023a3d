"""Models that two threads load at once are loaded one after the other."""

from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event, Thread
from typing import Any

import pytest
from transformers import GPT2LMHeadModel, PreTrainedModel

from headscope import load
from support.tiny import save_tiny, tiny_gpt2


def test_networks_have_tied_weights_after_two_threads_have_loaded_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where both may be within transformers at once, the first one leaves it first: its functions are lost then."""
    folder, made = save_tiny(tmp_path, tiny_gpt2(0, GPT2LMHeadModel)), GPT2LMHeadModel.__init__
    inside, together, first_left = Event(), Barrier(2), Event()

    def start(network: GPT2LMHeadModel, *given: Any, **options: Any) -> None:
        is_first = not inside.is_set()
        inside.set()
        with suppress(BrokenBarrierError):
            together.wait(0.5)
            assert is_first or first_left.wait(20)
        made(network, *given, **options)

    def load_first() -> None:
        load(str(folder), head=True)
        first_left.set()

    with monkeypatch.context() as patch:
        patch.setattr(PreTrainedModel, "tie_weights", PreTrainedModel.tie_weights)  # as it was, also after a failure
        patch.setattr(GPT2LMHeadModel, "__init__", start)
        first, second = Thread(target=load_first), Thread(target=load, args=(str(folder),), kwargs={"head": True})
        first.start()
        assert inside.wait(20)
        second.start()
        first.join()
        second.join()
        patch.setattr(GPT2LMHeadModel, "__init__", made)
        later: Any = tiny_gpt2(0, GPT2LMHeadModel)
        assert later.lm_head.weight is later.transformer.wte.weight

"""Where a corpus is cut: at a number of examples that depends on its texts alone."""

from typing import Any

import pytest

from headscope import Model, Settings
from headscope.corpora import read
from headscope.encoding.encoder import Words
from headscope.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.shards import Fold

TEXTS = [f"{number} cats saw {number} birds. " * 500 for number in range(40)]  # 11 KiB each


class Count:
    """Counts inputs."""

    def __init__(self) -> None:
        self.inputs = 0

    def add(self, group: list[Any]) -> None:
        self.inputs += len(group)

    def state(self) -> int:
        return self.inputs


def test_long_texts_make_small_shards(model: Model) -> None:
    corpus, settings = read(TEXTS), Settings(long="truncate")
    words = Words(model.tokenizer, model.max_tokens, "truncate")
    reader = PlannedPass(model, corpus, words, settings, Fold(Count, int.__add__, int))
    assert [part.coverage.inputs for part in reader.parts(reader.nothing)] == [12, 12, 12, 4]


@pytest.mark.parametrize(("examples", "parts"), [(2, 1), (20, 2), (40, None)])
def test_workers_without_work_are_said(examples: int, parts: int | None, model: Model) -> None:
    said: list[str] = []
    settings = Settings(long="truncate", resamples=5, workers=3, on_notice=said.append)
    Pass(model, read(TEXTS[:examples]), settings).measure(["entropy"]).read()
    assert said == ([f"'list' is too small for 3 workers; use --workers {parts}"] if parts else [])

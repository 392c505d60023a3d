"""An error in a measure of one's own names the measure."""

from types import SimpleNamespace
from typing import Any

import pytest

import headscope
from headscope import HeadscopeError
from headscope.catalog import load
from headscope.passes import measures
from support.tiny import tiny_bert, tiny_tokenizer


@pytest.mark.parametrize("part", ["observe", "finish", "values"])
def test_an_error_in_a_measure_names_it(part: str) -> None:
    entropy = load("measures", "entropy")

    class Mine:
        VARIABLE = headscope.Variable("mine", "what is mine", "nats", "here")

        def observe(self, rows: Any) -> Any:
            return 1 / 0 if part == "observe" else entropy.observe(rows)

        def finish(self, observed: Any, batch: Any) -> Any:
            return None if part == "values" else 1 / 0

    model = headscope.wrap(tiny_bert(num_hidden_layers=1), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"measure 'mine' fails \(\w+Error: .*\); correct it, or leave it out"):
        headscope.profile(model, ["a dog ran."], measures=(Mine(),), resamples=10, examples=0)


def test_any_error_of_an_entry_point_names_the_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ValueError("no such file")

    entry = SimpleNamespace(load=broken, value="package.mine")
    found = SimpleNamespace(select=lambda name: [entry], names={"mine"})
    monkeypatch.setattr(measures.catalog, "installed_measures", lambda: found)
    with pytest.raises(HeadscopeError, match=r"measure 'mine' \(package.mine\) cannot be loaded: no such file"):
        measures.measure_named("mine")

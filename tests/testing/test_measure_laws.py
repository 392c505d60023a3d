"""The laws of measures find a measure that breaks them, and measures of one's own are measured."""

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import headscope
from headscope import HeadscopeError, Values, Variable
from headscope.encoding.batch import Batch, Rows
from headscope.measures import entropy
from support.cli import run_command
from support.tiny import save_tiny

TEXTS = ["The cat slept.", "A dog ran to the house."]


class Sharpest:
    """The largest attention of a token, averaged over tokens."""

    VARIABLE = Variable("sharpest", "largest attention of a token", "share of attention", "own")

    def observe(self, rows: Rows) -> Tensor:
        return rows.sum_of_real(rows.attention.amax(-1))

    def finish(self, observed: Tensor, batch: Batch) -> Values:
        return Values(observed / batch.lengths[:, None], batch.lengths > 0)


class OfBatch(Sharpest):
    def finish(self, observed: Tensor, batch: Batch) -> Values:
        return Values(observed / batch.lengths.max(), batch.lengths > 0)


class OfBlock(Sharpest):
    def observe(self, rows: Rows) -> Tensor:
        return rows.sum_of_real(rows.attention.amax(-1)) / rows.attention.shape[2] * 2


class OfPadding(Sharpest):
    def observe(self, rows: Rows) -> Tensor:
        return rows.attention.amax(-1).sum(-1)


class OfFirstHead(Sharpest):
    def observe(self, rows: Rows) -> Tensor:
        return super().observe(rows) / torch.arange(1, rows.attention.shape[1] + 1)


class OfAttention(Sharpest):
    def finish(self, observed: Tensor, batch: Batch) -> Values:
        return Values(observed / batch.lengths[:, None], observed.amax(1) / batch.lengths > 0.9)


class TooLarge(Sharpest):
    def observe(self, rows: Rows) -> Tensor:
        return super().observe(rows) * 2


@pytest.mark.parametrize(
    ("measure", "law"),
    [
        (OfBatch(), "a batch is its examples one by one"),
        (OfBlock(), "blocks add up|a batch is its examples"),
        (OfPadding(), "a batch is its examples|padding changes values|not from 0 to 1"),
        (OfFirstHead(), "heads permute"),
        (OfAttention(), "which examples are valid depends on attention"),
        (TooLarge(), "values are not from 0 to 1"),
    ],
)
def test_a_broken_law_is_named(measure: Any, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        headscope.check_measure(measure)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


def test_a_measure_of_ones_own_stands_beside_the_others(folder: Path, tmp_path: Path) -> None:
    result = headscope.profile(folder, TEXTS, measures=[Sharpest()], examples=1)
    model, found = headscope.load(str(folder)), []
    for text in TEXTS:
        with torch.inference_mode():
            inputs = model.tokenizer(text, return_tensors="pt")
            model.network.set_attn_implementation("eager")
            maps = torch.stack(model.network(**inputs, output_attentions=True).attentions)
        found.append(maps[:, 0].amax(-1).mean(-1).numpy())
    np.testing.assert_allclose(result["sharpest"], np.mean(found, 0), atol=1e-5)
    assert result["sharpest_ci"].sizes["bound"] == 2 and "entropy" in result
    page = headscope.write_report(result, tmp_path / "page")
    assert "largest attention of a token" in Path(page).read_text(encoding="utf-8")


def test_a_module_is_a_measure(folder: Path) -> None:
    module: Any = ModuleType("mine")
    vars(module).update(VARIABLE=Sharpest.VARIABLE, observe=Sharpest().observe, finish=Sharpest().finish)
    assert "sharpest" in headscope.profile(folder, TEXTS, measures=[module], examples=0)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            SimpleNamespace(VARIABLE=Sharpest.VARIABLE, observe=1),
            "has no finish; a measure has VARIABLE, observe, finish",
        ),
        (SimpleNamespace(VARIABLE="x", observe=1, finish=1), r"VARIABLE is no headscope\.Variable"),
        (entropy, "measure 'entropy' is there already"),
        ("entrpy", "measure 'entrpy' is unknown; did you mean 'entropy'"),
    ],
)
def test_what_is_no_measure_is_refused(measure: Any, message: str, folder: Path) -> None:
    with pytest.raises(HeadscopeError, match=message):
        headscope.profile(folder, TEXTS, measures=[measure], examples=0)


def test_measures_of_an_installed_package_are_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip leaves it: a module, and the folder that names its entry points."""
    described = tmp_path / "sharp-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: sharp\nVersion: 1.0\n", encoding="utf-8")
    lines = "sharpest = testing.test_measure_laws:Sharpest\ngone = testing.nothing:Gone\n"
    (described / "entry_points.txt").write_text(f"[headscope.measures]\n{lines}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(Path(__file__).parents[1])

    def run(*words: str) -> Any:
        return run_command(*words)

    assert "sharpest" in run("list").output
    out = tmp_path / "out"
    words = ("profile", str(folder), "sample", "--limit", "4", "-o", str(out), "--no-figures", "--examples", "0")
    done = run(*words, "--measures", "sharpest")
    assert done.exit_code == 0, done.output
    assert "sharpest" in headscope.open_result(out)
    assert run(*words, "--measures", "gone").exit_code == 2
    (described / "entry_points.txt").write_text("[headscope.measures]\nsharpest\n", encoding="utf-8")
    for ended in (run("list"), run(*words, "--measures", "sharpest")):
        assert ended.exit_code == 2 and "the entry points of an installed package cannot be read" in ended.stderr

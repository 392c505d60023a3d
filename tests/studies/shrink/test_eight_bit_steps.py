"""Eight bits as a step of the search: when they are taken, what their files have, a killed search, and refusals."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headscope import HeadscopeError, Model
from headscope.models import onnx
from headscope.models.eight_bits import EMBEDDINGS, TO_STATES, EightBits
from headscope.storage.codec import decode, encode
from headscope.studies.shrink import eight_bit_files
from headscope.studies.shrink.answers import change
from headscope.studies.shrink.eight_bit import Trial, chosen_trial
from headscope.studies.shrink.expected_file import gone_megabytes
from headscope.studies.shrink.plan import plan_of
from headscope.studies.shrink.record import SearchRecord
from headscope.studies.shrink.search import found_steps
from headscope.studies.shrink.sizes import Size
from headscope.studies.shrink.step_files import StepFiles
from headscope.studies.shrink.steps import EIGHT_BITS, InEightBits, Step
from headscope.studies.shrink.target import SizeTarget
from support.eight_bit_search import NEURONS, PARTS, WIDTH, larger_bert, search_of

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

WHOLE = Size((0, 1, 2), NEURONS, 4)


def steps_of(folder: Path, most: float, **options: bool) -> list[Step]:
    """The steps of a search for at most so many megabytes."""
    search = search_of(larger_bert(**options), SizeTarget(None, most), folder / "files")
    return found_steps(search, record(folder), None, best_effort=False)


def record(folder: Path) -> SearchRecord:
    """A record in a folder."""
    return SearchRecord(folder / "record" / "search.json", {}, lambda line: None)


@pytest.mark.thorough
def test_eight_bits_go_first_where_they_change_least_for_each_byte(tmp_path: Path) -> None:
    search = search_of(larger_bert(), SizeTarget(None, 0.6), tmp_path / "files")
    steps = found_steps(search, record(tmp_path), None, best_effort=False)
    assert len(steps) > 2 and steps[1].part == EIGHT_BITS and steps[1].size == WHOLE and steps[1].share == 1
    assert steps[1].estimate == steps[1].change < 0.02
    assert search.files and steps[-1].eight_bit
    for step in steps[1:]:
        assert step.eight_bit
        outputs = search.files.outputs(step.size, step.eight_bit.options, search.inputs)
        assert step.change == pytest.approx(change(search.before, outputs), abs=1e-9)
    assert steps[-1].megabytes <= 0.6 < steps[-2].megabytes


@pytest.mark.thorough
def test_neurons_that_do_nothing_go_before_eight_bits(tmp_path: Path) -> None:
    steps = steps_of(tmp_path, 0.75, idle=True)
    assert [step.part for step in steps[1:3]] == ["neurons", EIGHT_BITS]
    assert steps[1].change < 1e-6 < steps[2].change and steps[2].size.of_layers[0][0] == NEURONS // 2


def test_eight_bits_save_no_time(tmp_path: Path) -> None:
    search = search_of(larger_bert(), SizeTarget(1.2, 100.0), tmp_path / "files")
    steps = found_steps(search, record(tmp_path), None, best_effort=False)
    assert EIGHT_BITS not in [step.part for step in steps] and not (tmp_path / "files").exists()


@pytest.mark.thorough
def test_a_killed_search_goes_on_with_the_same_steps_and_so_do_workers(tmp_path: Path) -> None:
    model, target = larger_bert(), SizeTarget(None, 0.6)
    expected = steps_of(tmp_path / "once", 0.6)
    search = search_of(model, target, tmp_path / "files")
    assert search.files

    def stop(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    interrupted = replace(search, settings=replace(search.settings, on_progress=stop))
    with pytest.raises(KeyboardInterrupt):
        found_steps(interrupted, record(tmp_path), None, best_effort=False)
    stored = record(tmp_path).read()
    assert stored is not None and stored.steps[1] == expected[1] and len(expected) > 2
    assert found_steps(search, record(tmp_path), stored, best_effort=False) == expected
    shared = search_of(model, target, tmp_path / "shared", workers=2)
    assert found_steps(shared, record(tmp_path / "workers"), None, best_effort=False) == expected


SIZES = [
    (replace(WHOLE, width=NEURONS // 2), EightBits(per_channel=True)),
    (replace(WHOLE, layers=(0, 2)), EightBits(kept=("layer 3",))),
    (replace(WHOLE, layers=(0, 2)), EightBits(kept=("layer 2",))),
    (replace(WHOLE, layers=(1, 2), width=NEURONS // 2), EightBits(kept=(EMBEDDINGS,))),
    (replace(WHOLE, embeddings=24), EightBits(kept=(TO_STATES,))),
]


@pytest.mark.thorough
def test_a_file_has_the_size_that_is_expected(tmp_path: Path) -> None:
    """From another size, with as many layers and neurons as the whole model, and wider embeddings.

    A layer in float32 has 0.44 MB; so small a model may differ by some KB of its graph.
    """
    files = search_of(larger_bert(scale=0.5), SizeTarget(None, 1.0), tmp_path, f"{PARTS},embeddings").files
    assert files
    before = [replace(WHOLE, embeddings=2 * size.embeddings) for size, _ in SIZES]
    known = [in_eight_bits(files, last, options) for last, (_, options) in zip(before, SIZES, strict=True)]
    for last, step, (size, options) in zip(before, known, SIZES, strict=True):
        now = files.files.original.cut(replace(size, layers=WHOLE.layers))
        assert step.eight_bit is not None
        expected = files.expected(now, last, size, step.eight_bit)
        assert expected == pytest.approx(in_eight_bits(files, size, options).megabytes, abs=0.03), (size, options)


def in_eight_bits(files: StepFiles, size: Size, options: EightBits) -> Step:
    """A step of a size, measured by its file."""
    return files.measured(Step(EIGHT_BITS, size, 0.0, 0.0, 0.0, 1.0, InEightBits(options, 0.0, 0.0)))


def test_rows_that_go_in_any_case_have_a_byte_a_number_and_fewer_numbers_in_narrow_embeddings() -> None:
    model = larger_bert()
    fixed = 10 * WIDTH * 4 / 1e6  # ten rows
    for size, options, numbers in (
        (WHOLE, EightBits(), 10 * WIDTH),
        (WHOLE, EightBits(kept=(EMBEDDINGS,)), 10 * WIDTH * 4),
        (replace(WHOLE, embeddings=24), EightBits(), 10 * 24),
    ):
        assert gone_megabytes(fixed, model, size, options) == pytest.approx(numbers / 1e6)


@pytest.mark.thorough
def test_a_part_in_float32_may_become_eight_bits_later(tmp_path: Path) -> None:
    files = search_of(larger_bert(), SizeTarget(None, 1.0), tmp_path).files
    assert files
    first = in_eight_bits(files, WHOLE, EightBits(per_channel=True, kept=("layer 2", TO_STATES)))
    assert files.further(first) == {f"{EIGHT_BITS} of layer 2": WHOLE}  # there is no map yet
    second = files.step(f"{EIGHT_BITS} of layer 2", first)
    assert second.eight_bit and second.eight_bit.options.kept == (TO_STATES,) and second.size == WHOLE
    matrices = 4 * WIDTH**2 + 2 * WIDTH * NEURONS
    assert first.megabytes - second.megabytes == pytest.approx(3 * matrices / 1e6, rel=0.03)
    assert first.eight_bit and second.change - first.change == pytest.approx(
        second.eight_bit.added - first.eight_bit.added
    )
    alone = [files.outputs(WHOLE, step.eight_bit.options, files.inputs) for step in (first, second) if step.eight_bit]
    costs = [change(files.before, outputs) for outputs in alone]
    assert files.estimate(first, second) == pytest.approx(costs[1] - costs[0])
    assert list(files.further(replace(second, size=replace(WHOLE, embeddings=24)))) == [f"{EIGHT_BITS} of {TO_STATES}"]


@pytest.mark.thorough
def test_a_size_is_exported_once_and_a_file_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exported: list[Path] = []

    def export(model: Model, path: Path) -> Path:
        exported.append(path)
        return onnx.export(model, path)

    monkeypatch.setattr(eight_bit_files, "export", export)
    files = search_of(larger_bert(), SizeTarget(None, 1.0), tmp_path).files
    assert files
    first = files.outputs(WHOLE, EightBits(), files.inputs)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.onnx")}
    np.testing.assert_array_equal(first, files.outputs(WHOLE, EightBits(), files.inputs))
    assert written == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.onnx")}
    files.outputs(WHOLE, EightBits(per_channel=True), files.inputs)
    assert len(exported) == 1
    files.outputs(replace(WHOLE, layers=(1,)), EightBits(), files.inputs)
    assert len(exported) == 2 and [path.parent for path in tmp_path.rglob("model.onnx")] == [exported[1].parent]


def test_files_as_small_as_the_target_count_first() -> None:
    trials = [Trial(EightBits(kept=(str(size),)), change, size) for change, size in ((0.05, 5.0), (0.005, 8.0))]
    assert [chosen_trial(trials, most).megabytes for most in (None, 8.0, 6.0, 4.0)] == [8.0, 8.0, 5.0, 5.0]


def test_a_step_in_eight_bits_or_without_comes_back() -> None:
    step = Step("neurons", WHOLE, 0.1, 0.2, 3.0, 0.5)
    for one in (step, replace(step, eight_bit=InEightBits(EightBits(kept=("layer 1",)), 0.1, 2.0))):
        assert decode(encode(one), Step) == one


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, r"part 'eight-bit' is weighed by its megabytes alone; add --size, as in --size 12MB"),
    ({"speed": "2x"}, "add --size"),
    ({"within": True}, "--within-interval tests models in float32; leave eight-bit out of --parts"),
    ({"size": "1MB", "method": "gates"}, "--method gates has no gate of eight bits; leave eight-bit out of --parts"),
    ({"size": "1MB", "fine": True}, "--fine does not weigh eight bits"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_a_search_that_cannot_weigh_eight_bits_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        plan_of(larger_bert(), parts="neurons,eight-bit", **options)


def test_a_size_and_a_speed_beside_it_are_accepted_and_the_default_has_no_eight_bits() -> None:
    plan = plan_of(larger_bert(), speed="2x", size="0.5MB", parts="neurons,eight-bit")
    assert plan.eight_bit and plan.target == SizeTarget(2.0, 0.5)
    assert not plan_of(larger_bert()).eight_bit

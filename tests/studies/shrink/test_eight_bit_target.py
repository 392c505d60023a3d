"""A size that the file of eight bits meets: the command, its page, its card, and `headscope verify`."""

import json
from pathlib import Path

import pytest
import xarray as xr

import headscope
from headscope.report.study_page import study_page
from headscope.studies.shrink.page.path_figure import points
from headscope.studies.shrink.report_card import notes
from support.eight_bit_search import larger_bert
from support.every_study import run
from support.findings import texts_of
from support.tiny import save_tiny

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

TARGET = 0.6
QUICK = ("--groups", "2", "--epochs", "0", "--batches", "1", "--tokens", "8", "--resamples", "20", "--vocabulary", "1")


@pytest.mark.thorough
def test_the_file_meets_the_size_and_page_and_card_say_so(tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model", larger_bert().network)
    size = ("--size", f"{TARGET}MB", "--parts", "neurons,layers,eight-bit")
    ended = run("shrink", model, "sample", "--limit", "60", *size, *QUICK, out=tmp_path / "out", page=True)
    assert ended.status == 0, ended.errors
    result = headscope.open_result(tmp_path / "out")
    known = json.loads(result.attrs["shrinking"])
    file = tmp_path / "out" / "model" / "onnx" / "model_quantized.onnx"
    assert file.stat().st_size / 1e6 == known["eight_bit"]["megabytes"][1] <= TARGET < known["megabytes"][1]
    assert known["reached"] and not (tmp_path / "out" / ".headscope.shrink").exists()
    steps_are_scored_and_weighed_by_their_files(result)
    the_page_says_so(result, tmp_path / "out" / "model")
    ended = run("verify", tmp_path / "out", "--json")
    assert ended.status == 0, ended.errors
    assert json.loads(ended.output)["eight_bit"]["megabytes"] == [file.stat().st_size / 1e6] * 2


def steps_are_scored_and_weighed_by_their_files(result: xr.Dataset) -> None:
    """A file answers nearly as the model in float32, which no training has changed, and not quite."""
    known = json.loads(result.attrs["shrinking"])
    assert result["part"].values[known["eight_bit_step"]] == "eight bits"
    last, untrained = (float(array[0]) for array in (result["path_score"][-1], result["untrained_score"]))
    assert 1e-7 < abs(last - untrained) < 0.05
    sizes = [point.megabytes for point in points(result)]
    assert sizes[: len(result["step"])] == result["megabytes"].values.tolist() and sizes[-1] == known["megabytes"][1]
    assert float(result["megabytes"][-1]) == pytest.approx(known["eight_bit"]["megabytes"][1], rel=0.02)
    assert float(result["needed_share"]) >= float(result["megabytes"][-1] / result["megabytes"][0]) - 1e-9


def the_page_says_so(result: xr.Dataset, folder: Path) -> None:
    """Which file meets the target, and that the weights in the folder are in float32."""
    known = json.loads(result.attrs["shrinking"])
    said = " ".join(texts_of(result).values())
    meets = "The ONNX file onnx/model_quantized.onnx meets the target, at most 0.6 MB"
    assert meets in said and "in the folder are in float32" in said
    assert meets in notes(result, known) and meets in (folder / "README.md").read_text()
    (steps,) = (table for table in study_page(result).tables() if table.name == "steps")
    assert f"From step {known['eight_bit_step']} on the ONNX file of eight bits" in steps.caption
    unmet = known | {"reached": False, "eight_bit": known["eight_bit"] | {"any_size": known["eight_bit"]["trials"][0]}}
    unmet["eight_bit"]["options"] = "others"
    said = " ".join(texts_of(result.assign_attrs(shrinking=json.dumps(unmet))).values())
    assert "does not meet the target" in said and "A file of any size would have other options (per map, eight" in said

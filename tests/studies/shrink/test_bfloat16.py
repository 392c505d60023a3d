"""The saved model in bfloat16: its folder, its scores, the page, `headscope verify`, and a run that was killed."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from scipy.stats import rankdata
from transformers import AutoModel

import headscope
from headscope import HeadscopeError, Settings
from headscope.capture.transformers_logging import quiet
from headscope.report.study_page import study_page
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval
from headscope.studies.shrink import study
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.number_formats import bfloat16_scores
from headscope.studies.shrink.page.number_formats import bfloat16
from headscope.studies.shrink.page.path_figure import BFLOAT16 as LINE
from headscope.studies.shrink.page.path_figure import path_figures
from headscope.studies.shrink.report_card import notes
from headscope.studies.shrink.saved_folder import BFLOAT16, in_bfloat16, saved
from headscope.studies.shrink.scores import last_gain, of_similarities
from headscope.studies.shrink.splits import encode
from support.every_study import run
from support.idle_neurons import TEXTS
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

QUICK = ("--size", "0.05MB", "--groups", "2", "--epochs", "0", "--batches", "1", "--tokens", "8", "--resamples", "20")
RANDOM = np.random.default_rng(0)


def test_the_folder_in_bfloat16_answers_as_its_result_says(tmp_path: Path) -> None:
    words = ("shrink", save_tiny(tmp_path / "tiny"), "sample", "--limit", "60", *QUICK, "--bfloat16")
    ended = run(*words, out=tmp_path / "out", page=True)
    assert ended.status == 0, ended.errors
    assert str(tmp_path / "out" / BFLOAT16) in ended.output
    the_weights_are_rounded(tmp_path / "out")
    the_page_says_so(tmp_path / "out")
    ended = run("verify", tmp_path / "out", "--json")
    assert ended.status == 0, ended.errors
    before, now = json.loads(ended.output)["bfloat16"]["scores"]["similarity_agreement"]
    assert before == pytest.approx(now, abs=1e-6)
    a_change_is_noticed(tmp_path / "out")


def the_weights_are_rounded(out: Path) -> None:
    """Those of an ordinary folder, which another program loads as they are."""
    exact, half = (AutoModel.from_pretrained(out / name, dtype="auto") for name in ("model", BFLOAT16))
    assert half.dtype == torch.bfloat16 and half.config.dtype == torch.bfloat16
    for name, weight in exact.state_dict().items():
        rounded = weight.to(torch.bfloat16) if weight.is_floating_point() else weight
        assert torch.equal(half.state_dict()[name], rounded)
    names = [{path.name for path in (out / folder).iterdir()} for folder in ("model", BFLOAT16)]
    assert names[0] == names[1] >= {"README.md", "tokenizer.json"}


def the_page_says_so(out: Path) -> None:
    """The page, the first figure and both cards have the score and the size."""
    result = headscope.open_result(out)
    known = json.loads(result.attrs["shrinking"])
    assert known["bfloat16"] == {"folder": BFLOAT16, "megabytes": pytest.approx(known["megabytes"][1] / 2)}
    said = {finding.topic: finding.text for finding in study_page(result).findings()}
    assert "for GPUs, and was not timed" in said["The model in bfloat16"]
    assert sum("bfloat16" in topic for topic in said) == 2
    speed, size = path_figures(result)
    assert LINE in str(size.chart.to_dict()) and LINE not in str(speed.chart.to_dict())
    assert all("## In bfloat16" in (out / folder / "README.md").read_text() for folder in ("model", BFLOAT16))
    assert "| megabytes |" in notes(result, known).split("## In bfloat16")[1]


def a_change_is_noticed(out: Path) -> None:
    """Other weights give other scores, and a missing folder is named."""
    network = AutoModel.from_pretrained(out / BFLOAT16)
    with torch.no_grad():
        network.get_input_embeddings().weight.mul_(-1)
    network.save_pretrained(out / BFLOAT16)
    ended = run("verify", out, "--json")
    found = json.loads(ended.output)
    assert ended.status == 1 and not found["same"] and not found["bfloat16"]["same"]
    (out / BFLOAT16).rename(out / "elsewhere")
    ended = run("verify", out)
    assert ended.status == 2 and "the model in bfloat16, is missing; run 'headscope shrink' again" in ended.errors


def test_sentence_transformers_loads_the_folder(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    start = save_tiny(tmp_path / "start")
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    (start / "modules.json").write_text(json.dumps(modules))
    (start / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 24, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (start / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    with quiet():
        half = saved(in_bfloat16(headscope.load(str(start))), tmp_path / BFLOAT16, head=False)
        sentences = library.SentenceTransformer(str(tmp_path / BFLOAT16), device="cpu")
    answers = answers_of(half, None)
    assert answers.first and sentences.dtype == torch.bfloat16
    ours = answers.of(half, encode(half, tuple(headscope.read(TEXTS[:4]))), Settings())
    theirs = sentences.encode(TEXTS[:4])
    np.testing.assert_allclose(ours, unit(theirs), atol=2e-2)
    assert ours.dtype == np.float32


def test_a_gain_of_similarities_is_paired_in_each_resample() -> None:
    """As a loop over resamples finds it, in which each pair of texts is repeated as often as both are drawn."""
    start, other, far = unit(RANDOM.normal(size=(3, 12, 5)))
    models = [start, unit(start + 0.2 * other), far]
    one, two = np.triu_indices(12, 1)
    ranks = [rankdata((model[one] * model[two]).sum(-1)) for model in models]
    gains = []
    for draw in poisson_draws(range(12), 3, 50):
        drawn = [np.repeat(some, (draw[one] * draw[two]).astype(int)) for some in ranks]
        near, farther = (np.corrcoef(drawn[0], some)[0, 1] for some in drawn[1:])
        gains.append(farther - near)
    found = last_gain(of_similarities(models, range(12), 3, 50), range(12))
    near, farther = (np.corrcoef(ranks[0], some)[0, 1] for some in ranks[1:])
    np.testing.assert_allclose(found, [farther - near, *interval(np.array(gains), 12)], atol=1e-9)
    same = of_similarities([*models[:2], models[1]], range(12), 3, 50)
    np.testing.assert_allclose(last_gain(same, range(12)), 0, atol=1e-12)
    assert np.isnan(last_gain(of_similarities([start[:2]] * 3, range(2), 3, 50), range(2))[1:]).all()


def unit(values: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def scored(wrong: tuple[int, int], number: int = 400) -> xr.Dataset:
    """A result of a task of which the models in float32 and in bfloat16 answer so many examples wrong."""
    targets = np.arange(number) % 2
    right = np.eye(2)[targets]
    outputs = [right, *(np.where(np.arange(number)[:, None] < count, 1 - right, right) for count in wrong)]
    dev = SimpleNamespace(units=range(number))
    task: Any = SimpleNamespace(metrics=("accuracy",), targets=lambda corpus: targets, dev=dev, kind="classification")
    texts: Any = None  # those of a task have its units
    return xr.Dataset(bfloat16_scores(task, outputs, texts, 0.05, Settings(resamples=200)))


@pytest.mark.parametrize(("wrong", "gain", "verdict"), [((200, 200), 0, "holds"), ((0, 200), -0.5, "fails")])
def test_what_the_format_loses_is_tested_beside_float32(wrong: tuple[int, int], gain: float, verdict: str) -> None:
    """A smaller model that has lost much loses no more by the format."""
    result = scored(wrong)
    assert float(result["bfloat16_gain"]) == pytest.approx(gain)
    assert float(result["bfloat16_score"].sel(metric="accuracy")) == pytest.approx(1 - wrong[1] / 400)
    known = {"tolerance": 0.05, "megabytes": [4, 2], "bfloat16": {"folder": BFLOAT16, "megabytes": 1}}
    first, _ = bfloat16(result, known)
    assert first.verdict == verdict and first.topic.endswith("beside float32") and "n = 400 examples" in first.text
    assert not list(bfloat16(result, {}))


def test_a_run_that_was_killed_in_the_export_ends_with_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    options: dict[str, Any] = {"size": "0.05MB", "groups": 2, "epochs": 1, "batches": "1", "tokens": "8"}

    def shrunk(folder: Path, *, half: bool = True) -> xr.Dataset:
        settings = Settings(resamples=20)
        return study.run(model, headscope.read(TEXTS), settings, directory=folder, bfloat16=half, **options)

    def killed(*given: Any, **further: Any) -> None:
        raise KeyboardInterrupt

    alone = shrunk(tmp_path / "alone")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(study, "notes", killed)
        shrunk(tmp_path / "killed")
    assert not (tmp_path / "killed" / BFLOAT16).exists()
    again = shrunk(tmp_path / "killed")
    for name in ("bfloat16_score", "bfloat16_gain", "shrunk_score"):
        xr.testing.assert_identical(again[name], alone[name])
    weights = [(tmp_path / name / BFLOAT16 / "model.safetensors").read_bytes() for name in ("alone", "killed")]
    assert weights[0] == weights[1] and {path.name for path in (tmp_path / "killed").iterdir()} == {"model", BFLOAT16}
    shrunk(tmp_path / "killed", half=False)
    assert not (tmp_path / "killed" / BFLOAT16).exists()  # not that of another run


def test_a_model_that_has_two_bytes_a_weight_is_refused(tmp_path: Path) -> None:
    half = headscope.wrap(tiny_bert().bfloat16(), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"in torch\.bfloat16, so --bfloat16 would save nothing"):
        headscope.shrink(half, headscope.read(["One.", "Two."]), directory=tmp_path, bfloat16=True)

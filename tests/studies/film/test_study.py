"""A film: its numbers are those of its models one by one, and it goes on after a kill with the same bits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import HeadscopeError, Settings
from headscope.passes import shared_pass
from headscope.report.study_page import study_page
from headscope.training.steps import KeptSteps
from support.killed import Killed, kill
from support.planted import WIDTH, Head, looks_at_offset, looks_at_piece, planted
from support.planted_task import DECIDES, planted_classifier, planted_task
from support.runs import finetune
from support.small_tasks import birds, tiny_folder
from support.tiny import save_tiny, tiny_tokenizer

QUICK = Settings(resamples=20)
TEXTS = ["The cat saw the bird .", "A dog ran home .", "The old man ate bread .", "She left early ."] * 3


def film_of(*heads: dict[tuple[int, int], Head], **options: Any) -> xr.Dataset:
    """The film of models with these planted heads."""
    models = tuple(headscope.wrap(planted(some), tiny_tokenizer(), f"step-{n}") for n, some in enumerate(heads))
    return headscope.film(models, TEXTS, QUICK, **options)


def test_the_head_that_moves_is_shown_at_the_step_where_it_moves() -> None:
    before = {(1, 1): looks_at_offset(1), (2, 2): looks_at_offset(-1)}
    after = before | {(2, 3): looks_at_piece("[SEP]")}
    film = film_of(before, before, after, after)
    assert film["step"].values.tolist() == [0, 1, 2, 3]
    change = 1 - film["step_similarity"]
    assert float(change.isel(step=[0, 1]).max()) == pytest.approx(0, abs=1e-6)
    last = change.isel(step=-1)
    assert float(last.sel(layer=2, head=3)) == float(last.max()) > 0.1
    assert float(film["half_change_of_head"].sel(layer=2, head=3)) == pytest.approx(1.5 / 3)
    to_sep = film["step_attention_to"].sel(layer=2, head=3, token_class="sep").values
    assert to_sep[2] > to_sep[0] + 0.3 and to_sep[3] == pytest.approx(to_sep[2], abs=1e-6)


def blinded() -> Any:
    """The planted classifier, whose deciding head looks at all tokens alike."""
    network: Any = planted_classifier()
    layer, head = DECIDES
    rows = slice((head - 1) * WIDTH, head * WIDTH)
    with torch.no_grad():
        network.bert.encoder.layer[layer - 1].attention.self.query.weight[rows] = 0
        network.bert.encoder.layer[layer - 1].attention.self.query.bias[rows] = 0
    return network


def test_the_score_rises_at_the_step_where_the_head_that_solves_the_task_moves() -> None:
    task = planted_task()
    networks = (blinded(), blinded(), planted_classifier(), planted_classifier())
    models = tuple(headscope.wrap(one, tiny_tokenizer(), f"step-{n}") for n, one in enumerate(networks))
    film = headscope.film(models, task.dev, QUICK, task=task)
    change, score = 1 - film["step_similarity"], film["step_score"].sel(metric="accuracy").values
    layer, head = DECIDES
    assert float(change.isel(step=-1).sel(layer=layer, head=head)) == float(change.max()) > 0.1
    assert float(change.isel(step=-1).sum()) == pytest.approx(float(change.max()), abs=1e-3)
    assert float(film["half_change_of_head"].sel(layer=layer, head=head)) == pytest.approx(0.5)
    assert score[0] == score[1] < 0.8 and score[2] == score[3] == 1


def test_each_step_has_the_numbers_of_profile_and_compare() -> None:
    some, other = {(1, 1): looks_at_offset(1)}, {(1, 1): looks_at_offset(-1)}
    film = film_of(some, other)
    models = [headscope.wrap(planted(one), tiny_tokenizer(), name) for one, name in ((some, "a"), (other, "b"))]
    compared = headscope.compare(tuple(models), TEXTS, QUICK, examples=0)
    similarity = compared["similarity"].isel(model=0)
    np.testing.assert_allclose(film["step_similarity"].isel(step=1), similarity, atol=1e-6)
    np.testing.assert_allclose(
        film["step_similarity_ci"].isel(step=1), compared["similarity_ci"].isel(model=0), atol=1e-6
    )
    np.testing.assert_allclose(
        film["step_weight_change"].isel(step=1), compared["weight_change"].isel(model=0), atol=1e-9
    )
    for step, model in enumerate(models):
        own = headscope.profile(model, TEXTS, QUICK, examples=0)
        for name in ("entropy", "attention_to", "attention_offset"):
            np.testing.assert_allclose(film[f"step_{name}"].isel(step=step), own[name], atol=1e-6)
            np.testing.assert_allclose(film[f"step_{name}_ci"].isel(step=step), own[f"{name}_ci"], atol=1e-6)


@pytest.mark.always
def test_numbers_of_other_studies_are_those_of_each_study_alone() -> None:
    before, after = {(1, 1): looks_at_offset(1)}, {(1, 1): looks_at_offset(-1), (2, 3): looks_at_piece("[SEP]")}
    corpus = headscope.read("sample", limit=9)
    models = tuple(
        headscope.wrap(planted(some), tiny_tokenizer(), f"step-{n}") for n, some in enumerate((before, after))
    )
    film = headscope.film(models, corpus, QUICK, studies="profile,syntax,geometry")
    to_sep = film["step_number"].sel(main_number="profile: attention to [SEP]")
    np.testing.assert_allclose(to_sep, film["step_attention_to"].sel(token_class="sep"), atol=1e-6)
    assert float(to_sep.sel(step=1, layer=2, head=3)) > float(to_sep.sel(step=0, layer=2, head=3)) + 0.3
    for step, model in enumerate(models):
        syntax = headscope.syntax(model, corpus, QUICK)
        best = syntax["accuracy"].sel(relation="all").max("direction")
        ours = film["step_number"].sel(main_number="syntax: accuracy: all").isel(step=step)
        np.testing.assert_array_equal(ours.transpose(*best.dims), best)
        geometry = headscope.geometry(model, corpus, QUICK)
        lengths = {one.words: one.array for one in study_page(geometry).layer_numbers()}["Length"]
        ours = film["step_layer_number"].sel(layer_number="geometry: Length").isel(step=step)
        np.testing.assert_array_equal(ours, lengths.sel(layer=ours["layer"]))
        bounds = film["step_layer_number_ci"].sel(layer_number="geometry: Length").isel(step=step)
        np.testing.assert_array_equal(bounds.sel(bound="upper"), lengths["upper"].sel(layer=ours["layer"]))
    units = film["number_unit"].sel(main_number=["profile: entropy", "syntax: accuracy: all"])
    assert units.values.tolist() == ["nats", "share of words"]


def test_studies_that_share_a_pass_read_each_step_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    original = shared_pass.read_together

    def counting(passes: Any, settings: Settings) -> None:
        read.append(len(passes))
        original(passes, settings)

    monkeypatch.setattr(shared_pass, "read_together", counting)
    film_of({}, {(1, 1): looks_at_offset(1)}, studies="profile,patterns,geometry")
    assert read == [3, 3]


def test_a_study_that_a_film_cannot_show_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="cannot show the study 'prune'; it can show profile, patterns, syntax"):
        film_of({}, {}, studies="profile,prune")
    with pytest.raises(HeadscopeError, match="study 'syntax': corpus 'list' has no dependency trees"):
        film_of({}, {}, studies="syntax")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fine-tuning of six steps, of which three are kept."""
    folder = tmp_path_factory.mktemp("tuned")
    options: dict[str, Any] = {"batch": 8, "epochs": 2, "learning_rate": 2e-3, "max_tokens": 32, "baselines": False}
    options["keep"] = "last"
    directory = folder / "out"
    model = str(tiny_folder(folder / "tiny"))
    finetune(model, (birds(16, 24),), QUICK, directory=directory, loading={}, keep_steps="3", **options)
    return directory


def test_film_of_a_fine_tuning_ends_at_its_model(tuned: Path) -> None:
    task = birds(16, 24)
    film = headscope.film((str(tuned),), task.dev, QUICK, task=task)
    assert film["step"].values.tolist() == [0, 2, 4, 6]
    ours = headscope.compare((str(tuned / "steps" / "start"), str(tuned / "model")), task.dev, QUICK, examples=0)
    np.testing.assert_allclose(film["step_similarity"].isel(step=-1), ours["similarity"].isel(model=0), atol=1e-4)
    np.testing.assert_allclose(film["step_weight_change"].isel(step=-1), ours["weight_change"].isel(model=0), rtol=4e-3)
    assert (film["step_weight_change"].diff("step") != 0).all()  # the steps differ
    assert film["step_score"].sel(metric="accuracy").notnull().all()
    assert film["typical_step"].values.tolist() == [0, 2, 4, 6]


def test_differences_are_kept_within_their_error(tuned: Path) -> None:
    kept = KeptSteps(tuned / "steps")
    start, moving, last = (
        headscope.load(str(folder), head=True) for folder in (kept.start, kept.start, tuned / "model")
    )
    kept.put(moving, start, 6)
    weights = [dict(one.network.named_parameters()) for one in (start, moving, last)]
    for name in weights[0]:
        before, ours, exact = (one[name].detach() for one in weights)
        assert ((ours - exact).abs() <= 2**-8 * (exact - before).abs() + 1e-7).all()


def test_steps_of_a_killed_training_are_the_same(tuned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headscope.training import steps

    model = str(tiny_folder(tmp_path / "tiny"))
    options: dict[str, Any] = {"batch": 8, "epochs": 2, "learning_rate": 2e-3, "max_tokens": 32, "baselines": False}
    options["keep"] = "last"

    def train() -> None:
        finetune(model, (birds(16, 24),), QUICK, directory=tmp_path / "out", loading={}, keep_steps="3", **options)

    with monkeypatch.context() as patched:
        kill(patched, steps, "save_file", 2)
        with pytest.raises(Killed):
            train()
    train()
    for step in (2, 4, 6):
        ours, theirs = (folder / "steps" / f"step-{step}.safetensors" for folder in (tmp_path / "out", tuned))
        assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "name several models, the start first"),
        (("nowhere",), "'nowhere' holds no kept steps; train with finetune --keep-steps 8"),
    ],
)
def test_a_film_without_steps_is_refused(names: Sequence[str], message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        headscope.film(tuple(names) or (headscope.wrap(planted({}), tiny_tokenizer()),), TEXTS, QUICK)


def test_revisions_of_a_hub_model_are_its_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the hub: each revision is a folder."""
    from headscope.models import checkpoint

    heads = {"step0": {}, "step1000": {(1, 1): looks_at_offset(1)}, "step3000": {(1, 1): looks_at_offset(-1)}}
    for revision, some in heads.items():
        save_tiny(tmp_path / "snapshots" / revision, planted(some))
    monkeypatch.setattr(checkpoint, "download", lambda name, revision, remedy="": tmp_path / "snapshots" / revision)
    film = headscope.film(tuple(f"lab/model@{revision}" for revision in heads), TEXTS, QUICK)
    assert film["step"].values.tolist() == [0, 1000, 3000]
    assert float((1 - film["step_similarity"]).sel(step=1000, layer=1, head=1)) > 0.1

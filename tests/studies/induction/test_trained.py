"""A small decoder that has learned to repeat: its induction heads arise, are found, and are what it needs."""

from functools import partial

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Model, Settings
from headscope.models.random_weights import untrained
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import model_of
from headscope.report.study_page import study_page
from headscope.report.wording import number
from support.repeating import repeated, second_copy_loss, trained_on_repeats
from support.tiny import tiny_tokenizer

pytestmark = pytest.mark.thorough  # planted heads are in test_planted_heads.py: training takes half a minute
LAYERS, DRAWS = 4, 5


@pytest.fixture(scope="module")
def model() -> Model:
    return headscope.wrap(trained_on_repeats(LAYERS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: Model) -> xr.Dataset:
    return headscope.induction(model, headscope.read("sample"), Settings(resamples=200), contexts="24,40")


@pytest.fixture(scope="module")
def special(result: xr.Dataset) -> np.ndarray:
    """The induction heads, [layer, head]."""
    return result["special"].sel(relation="induction").values == 1


def loss_without(model: Model, disabled: np.ndarray) -> float:
    """The loss on the second copies with some heads silenced."""
    with torch.random.fork_rng(devices=[]), torch.inference_mode(), model.changed(disabled, "zero"):
        torch.manual_seed(7)
        return float(second_copy_loss(model.network, repeated(64, 20)))


def test_induction_heads_arise_behind_a_head_for_the_previous_token(result: xr.Dataset, special: np.ndarray) -> None:
    previous = result["special"].sel(relation="previous").values == 1
    assert special.any() and previous[0].any() and not special[0].any()
    assert float(result["chosen_gain"].sel(relation="induction")) > 0.8


def test_they_are_what_the_second_copy_needs(model: Model, special: np.ndarray) -> None:
    unablated = loss_without(model, np.zeros_like(special))
    assert unablated < 0.1 and loss_without(model, special) > 4


def test_as_many_others_are_not(model: Model, special: np.ndarray) -> None:
    """Heads of the first layer are left out of the draw: they hold the previous tokens, which induction needs."""
    others, random = np.argwhere(~special & (np.arange(LAYERS) > 0)[:, None]), np.random.default_rng(0)
    for _ in range(DRAWS):
        drawn = np.zeros_like(special)
        drawn[tuple(random.permutation(others)[: special.sum()].T)] = True
        assert loss_without(model, drawn) < 0.2


def test_they_copy_what_they_look_at(result: xr.Dataset, special: np.ndarray) -> None:
    assert (result["copying"].values[special] > 0.9).all() and (result["copying_q_value"].values[special] < 1e-6).all()
    assert (result["copying_eigenvalues"].values[special] > 0.5).all()
    assert (result["copying_most"] <= result["copying"]).all()
    layer, head = (int(one) + 1 for one in np.argwhere(special)[0])
    (part,) = Card(model_of(result), layer, head).parts
    (text,) = [finding.text for finding in part.findings if finding.topic == "Copying"]
    most = float(result["copying_most"].sel(layer=layer, head=head))
    assert f"more than all others for {number(most)}" in text


def test_they_follow_the_repetitions_of_a_corpus(result: xr.Dataset, special: np.ndarray) -> None:
    gain = result["natural_gain"].sel(relation="induction").values
    assert gain[special].min() > 0.2 > np.abs(gain[~special]).max()


def test_they_find_a_planted_pair_at_every_depth(result: xr.Dataset, special: np.ndarray) -> None:
    found = (result["planted_special"] == 1).any("context").values
    assert found.any() and not found[~special].any()
    assert float(result["finder_gain"].min()) > 0.1


def test_the_page_says_so(result: xr.Dataset) -> None:
    page = study_page(result)
    claims = {highlight.topic: highlight.verdict for highlight in page.highlights() if highlight.verdict}
    topics = [topic for topic, verdict in claims.items() if verdict == "holds"]
    assert any("looks at the token after an earlier copy" in topic for topic in topics)
    assert any("finds what followed a token anywhere in 40 tokens" in topic for topic in topics)
    assert any("copy the token looked at" in topic for topic in topics)
    kinds = {(kind.layer, kind.head) for kind in page.kinds() if kind.kind == "induction"}
    assert kinds == {(layer + 1, head + 1) for layer, head in np.argwhere(result["special"][..., 0].values == 1)}


def test_before_its_training_it_has_none(model: Model) -> None:
    before = untrained(model)
    run = partial(headscope.induction, contexts="24", texts=4, sequences=20)
    assert not (run(before, ["a b c"] * 3, Settings(resamples=50))["special"] == 1).any()

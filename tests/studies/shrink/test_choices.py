"""Parts of a model of one size, chosen by the search, by weights and at random: closed forms, and what is planted."""

from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import Model, Settings
from headscope.report.study_page import study_page
from headscope.studies.size.shrink.choices import CHOICES, DRAWS, other_choices, variables
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.scores import Scores
from headscope.studies.size.shrink.texts import encode
from support.idle_neurons import TEXTS, even, idle
from support.runs import shrink as run

QUICK = Settings(resamples=50)


@pytest.fixture(scope="module")
def original() -> Original:
    encoder = idle()
    return original_of(encoder, encode(encoder, tuple(headscope.read(TEXTS[:8]))), QUICK)


def layers_of(made: Model) -> Any:
    """The layers of a model."""
    network: Any = made.network
    return network.encoder.layer


def written_by(made: Model, layer: int) -> np.ndarray:
    """The output weights of the neurons of a layer."""
    return layers_of(made)[layer].output.dense.weight.detach().numpy()


def test_neurons_with_the_longest_weights_are_kept_without_a_change_where_others_write_nothing(
    original: Original,
) -> None:
    size = even((0, 1, 2), 16, 4)
    by_weights, *random = other_choices(original, size, 0)
    assert len(random) == DRAWS
    for layer in range(3):
        kept = written_by(original.model, layer)[:, ::2]
        np.testing.assert_allclose(written_by(by_weights, layer), kept, atol=1e-5)
    firsts = [layers_of(one)[0].intermediate.dense.weight.detach().numpy() for one in random]
    assert {len(first) for first in firsts} == {16} and not np.array_equal(firsts[0], firsts[1])


def test_layers_with_the_shortest_weights_go(original: Original) -> None:
    longest = layers_of(original.model)[1].attention.self.query.weight
    with torch.no_grad():
        longest.mul_(3)
    by_weights, *random = other_choices(original, even((0,), 32, 4), 0)
    torch.testing.assert_close(layers_of(by_weights)[0].attention.self.query.weight, longest)
    assert all(len(layers_of(one)) == 1 for one in random)


def test_gains_are_scores_of_the_search_less_those_of_others() -> None:
    values = np.array([[1.0], [0.9], [0.7], *[[0.1 * draw] for draw in range(5)]])
    drawn = np.stack([values - 0.01, values, values + 0.01])
    scores = Scores(
        ("cross_entropy",), values, values[..., None] + [0, 0], values, values[..., None] + [0, 0], drawn, range(10)
    )
    made = variables(scores)
    assert made["choice_score"].dims == ("choice", "metric") and tuple(made["choice_score"]["choice"].values) == CHOICES
    np.testing.assert_allclose(made["choice_score"][:, 0], [0.9, 0.7, 0.2])
    np.testing.assert_allclose(made["choice_gain"], [np.nan, -0.2, -0.7])  # a loss: lower is better
    assert int(made["choice_score_n_examples"]) == 10


def test_the_page_has_all_choices_and_random_parts_lose_what_is_planted(tmp_path: Any) -> None:
    options: dict[str, Any] = {"size": "0.0655MB", "epochs": 0, "groups": 2, "parts": "neurons,heads,layers"}
    result = run(idle(), headscope.read(TEXTS), QUICK, directory=tmp_path, **options)
    assert result["part"].values.tolist() == ["the whole model", "neurons"]
    agreement = result["choice_score"].sel(metric="similarity_agreement")
    assert agreement.sel(choice="search") == pytest.approx(1, abs=1e-3)
    assert agreement.sel(choice="weights") == pytest.approx(1, abs=1e-3) and agreement.sel(choice="random") < 0.95
    assert float(result["choice_gain_ci"].sel(choice="random", bound="lower")) > 0
    (path,) = (figure for figure in study_page(result).figures() if figure.name == "path_score")
    assert all(words in path.chart.to_json() for words in ("longest weights, untrained", "random parts, untrained"))


def test_a_model_that_lost_nothing_has_no_other_choices(tmp_path: Any) -> None:
    options: dict[str, Any] = {"speed": "1.0x", "epochs": 0, "parts": "neurons,heads,layers"}
    result = run(idle(), headscope.read(TEXTS), QUICK, directory=tmp_path, **options)
    assert "choice_score" not in result
    assert not any("random parts" in figure.chart.to_json() for figure in study_page(result).figures())

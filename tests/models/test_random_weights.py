"""A model with random weights: the same architecture, nothing of what was learned."""

from typing import Any
from weakref import ref

import pytest
import torch

import headscope
from headscope.corpora import Options
from headscope.models import random_weights
from headscope.models.random_weights import untrained
from headscope.storage.kept_inputs import inputs_kept
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_tokenizer


def weights(model: headscope.Model) -> dict[str, torch.Tensor]:
    return dict(model.network.named_parameters())


def test_all_matrices_are_new_and_the_seed_decides() -> None:
    for network in (tiny_bert(), tiny_gpt2()):
        model = headscope.wrap(network, tiny_tokenizer())
        one, same, other = (weights(untrained(model, seed)) for seed in (1, 1, 2))
        for name, weight in weights(model).items():
            assert torch.equal(one[name], same[name])
            if weight.ndim > 1:
                assert one[name].shape == weight.shape
                assert not torch.allclose(one[name], weight) and not torch.allclose(one[name], other[name])


def test_studies_of_a_survey_share_those_of_a_small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (headscope.wrap(tiny_bert(), tiny_tokenizer()) for _ in range(2))
    assert untrained(one, 1) is not untrained(one, 1)
    with inputs_kept():
        assert untrained(one, 1) is untrained(one, 1)
        assert untrained(one, 1) is not untrained(one, 2) and untrained(one, 1) is not untrained(other, 1)
        monkeypatch.setattr("headscope.models.random_weights.MOST_KEPT", 0)
        assert untrained(one, 1) is not untrained(one, 1)


@pytest.mark.parametrize("study", ["relations", "trees", "probe"])
def test_of_a_large_model_one_is_in_memory_at_a_time(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, networks, alive = headscope.wrap(tiny_bert(), tiny_tokenizer()), list[ref[torch.nn.Module]](), list[int]()

    def built(model: headscope.Model, seed: int, build: Any = random_weights._built) -> headscope.Model:
        alive.append(sum(network() is not None for network in networks))
        random = build(model, seed)
        networks.append(ref(random.network))
        return random

    monkeypatch.setattr(random_weights, "_built", built)
    monkeypatch.setattr(random_weights, "MOST_KEPT", 0)
    options: dict[str, Any] = {"probe": {"epochs": 1, "seeds": 2}}
    getattr(headscope, study)(model, headscope.read("sample", Options(limit=24)), **options.get(study, {}))
    assert len(alive) > 1 and not any(alive)


def test_the_model_itself_and_the_random_state_stay_as_they_were(tmp_path) -> None:
    model = headscope.load(str(save_tiny(tmp_path)))
    before, state = {name: weight.clone() for name, weight in weights(model).items()}, torch.get_rng_state()
    again = untrained(model)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(weight, before[name]) for name, weight in weights(model).items())
    assert again.capture == model.capture and again.max_tokens == model.max_tokens
    assert "random weights" in again.name and not again.sha256

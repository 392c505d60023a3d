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
from support.tiers import chosen
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


OPTIONS: dict[str, dict[str, Any]] = {
    **{"relations": {}, "trees": {}, "survey": {"only": ["relations", "trees"]}, "probe": {"epochs": 1, "seeds": 2}},
    "structure": {"epochs": 1, "tensor_products": False},
    "layers": {"tasks": "part_of_speech", "penalties": "10", "codes": False, "mix": False},
}


@pytest.mark.parametrize("study", chosen(OPTIONS, lambda study: study in ("relations", "probe")))
def test_of_a_large_model_one_is_in_memory_at_a_time_and_none_while_probes_learn(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, networks = headscope.wrap(tiny_bert(), tiny_tokenizer()), list[ref[torch.nn.Module]]()
    alive, in_memory = list[int](), list[int]()

    def count(counts: list[int]) -> None:
        counts.append(sum(network() is not None for network in networks))

    def built(model: headscope.Model, seed: int, build: Any = random_weights._built) -> headscope.Model:
        count(alive)
        random = build(model, seed)
        networks.append(ref(random.network))
        return random

    monkeypatch.setattr(random_weights, "_built", built)
    monkeypatch.setattr(random_weights, "MOST_KEPT", 0)
    corpus = headscope.read("sample", Options(limit=24))
    getattr(headscope, study)(model, corpus, progress=lambda *_: count(in_memory), **OPTIONS[study])
    assert len(alive) > 1 and not any(alive)
    assert max(in_memory) == 1 and in_memory[-1] == (study in ("relations", "trees", "survey"))


def test_the_model_itself_and_the_random_state_stay_as_they_were(tmp_path) -> None:
    model = headscope.load(str(save_tiny(tmp_path)))
    before, state = {name: weight.clone() for name, weight in weights(model).items()}, torch.get_rng_state()
    again = untrained(model)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(weight, before[name]) for name, weight in weights(model).items())
    assert again.capture == model.capture and again.max_tokens == model.max_tokens
    assert "random weights" in again.name and again.sha256 not in ("", model.sha256)

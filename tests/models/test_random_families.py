"""What was planted is gone in the untrained model; pruned models and other families can be built anew."""

import numpy as np
import pytest
import torch

import headscope
from headscope.errors import HeadscopeError
from headscope.models.random_weights import untrained
from headscope.studies.size.prune.cut_heads import prune
from support.planted import looks_at_piece, planted
from support.tiny import tiny_bert, tiny_tokenizer
from support.tiny_families import tiny_family


@pytest.mark.parametrize("kind", ["t5", "deberta-v2"])
def test_it_has_the_same_shape_and_other_weights(kind: str) -> None:
    model = headscope.wrap(tiny_family(kind), tiny_tokenizer())
    made = untrained(model)
    assert type(made.network) is type(model.network) and made.capture == model.capture
    before = dict(model.network.named_parameters())
    for name, weight in made.network.named_parameters():
        assert weight.shape == before[name].shape and torch.isfinite(weight).all(), name
        assert weight.ndim == 1 or not torch.allclose(weight, before[name]), name
    assert not made.network.training


def test_a_planted_head_is_gone() -> None:
    model = headscope.wrap(planted({(1, 1): looks_at_piece("[SEP]")}), tiny_tokenizer())
    seen: list[torch.Tensor] = []
    inputs = model.tokenizer("the cat sat", return_tensors="pt")
    for variant in (model, untrained(model)):
        with torch.inference_mode(), variant.observed(lambda layer, attention, *_: seen.append(attention[0, 0, :, -1])):
            variant.network(**inputs)
    assert seen[0].min() > 0.99 and seen[2].max() < 0.5


def test_a_pruned_model_keeps_its_number_of_heads() -> None:
    remove = np.zeros((3, 4), dtype=bool)
    remove[0, 1:3] = True
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    assert untrained(prune(model, remove)).capture.heads == (2, 4, 4)


def test_a_model_that_its_configuration_does_not_make_is_refused() -> None:
    class Odd(type(tiny_bert())):
        def __init__(self, config, more):
            super().__init__(config)

    model = headscope.wrap(tiny_bert(), tiny_tokenizer(), "odd")
    model.network.__class__ = Odd
    with pytest.raises(HeadscopeError, match="model 'odd' cannot be built again"):
        untrained(model)

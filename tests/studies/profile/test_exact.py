"""The means of a profile are those over all maps of the eager model."""

import numpy as np
import pytest
import torch

import headscope
from headscope.capture.transformers_logging import quiet
from headscope.linguistics.sentence import Example
from headscope.models import Model

LIMIT = 1e-6


@torch.inference_mode()
def eager_maps(model: Model, example: Example) -> torch.Tensor:
    """The maps of all layers and heads, in double precision."""
    first, second = (" ".join(sentence.text for sentence in side) for side in (example.first, example.second))
    inputs = model.tokenizer(first, second or None, return_tensors="pt")
    return torch.stack(model.network(**inputs, output_attentions=True).attentions)[:, 0].double()


@pytest.mark.always
def test_means_of_the_built_in_model_are_those_over_all_eager_maps() -> None:
    model, corpus = headscope.load("minilm"), headscope.read("sample", limit=15)
    result = headscope.profile(model, corpus, settings=headscope.Settings(resamples=2))
    with quiet():
        model.network.set_attn_implementation("eager")
        maps = [eager_maps(model, example) for example in corpus]
    for ours, theirs in {
        "entropy": [torch.special.entr(attention).sum(-1).mean(-1) for attention in maps],
        "attention_to": [attention[..., 0].mean(-1) for attention in maps],
    }.items():
        values = result[ours].sel(token_class="cls") if ours == "attention_to" else result[ours]
        assert np.abs(values.values - torch.stack(theirs).mean(0).numpy()).max() < LIMIT

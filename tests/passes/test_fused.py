"""Passes whose attention is fused with its statistics: the numbers of blocks, and blocks where a map is needed."""

from types import ModuleType

import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import AutoModel

import headscope
from headscope import Model, Settings, Values, Variable, catalog
from headscope.corpora import Options, read
from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.measures import SURFACE
from headscope.passes.observing import MeasureObserver
from headscope.statistics.bootstrap import Tally
from support.interpreted import fused, refuse_without_triton
from support.passes import pass_over
from support.tiny import tiny_tokenizer
from support.tiny_families import tiny_config, tiny_family

refuse_without_triton()
pytestmark = pytest.mark.always
MEASURES: dict[str, ModuleType] = {
    name: catalog.load("measures", name) for name in (*SURFACE, "frequency_attention", "frequency_correlation")
}
QUICK = Settings(resamples=3, batch_tokens=200)


def model_of(family: str) -> Model:
    torch.manual_seed(0)
    # The interpreter takes a second a layer of four heads.
    small = {"bert": {"num_hidden_layers": 1}, "gemma2": {"num_attention_heads": 2, "num_key_value_heads": 1}}
    config = tiny_config(family, vocab_size=len(tiny_tokenizer()), **small.get(family, {}))
    return headscope.wrap(AutoModel.from_config(config).eval(), tiny_tokenizer())


def inputs_of(model: Model, number: int = 1) -> list[Encoded]:
    examples = [*read("sample", Options(limit=number)), *read([("A dog saw a cat.", "The cat saw it.")])]
    return list(Words(model.tokenizer, 24, "truncate").encode(examples))


def tallies(model: Model, observer: MeasureObserver) -> dict[str, Tally]:
    return pass_over(model, inputs_of(model), QUICK).collect(observer).read().value


# Gemma 2 has grouped keys, windows and soft caps.
FAMILIES = ["bert", "gemma2", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("llama", "modernbert"))]


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_are_those_of_blocks(family: str) -> None:
    model = model_of(family)
    observer = MeasureObserver(MEASURES)
    with fused(model):
        found = tallies(model, observer)
    expected = tallies(model, MeasureObserver(MEASURES))
    assert observer.needs_map == ""
    for name, tally in expected.items():
        np.testing.assert_array_equal(found[name].count, tally.count, err_msg=name)
        np.testing.assert_allclose(found[name].total, tally.total, rtol=1e-5, atol=1e-5, err_msg=name)


class Largest:
    """A measure that reads maps."""

    VARIABLE = Variable(name="largest", long_name="largest attention", units="share", source="none")

    def observe(self, rows: Rows) -> Float[Tensor, "example head"]:
        return rows.attention.amax((2, 3))

    def finish(self, observed: Float[Tensor, "example head"], batch: Batch) -> Values:
        return Values(observed, batch.lengths > 0)


def test_a_measure_that_reads_maps_gets_them() -> None:
    model, largest = model_of("bert"), Largest()
    observer = MeasureObserver({"entropy": MEASURES["entropy"], "largest": largest})
    with fused(model):
        found = tallies(model, observer)
    assert observer.needs_map == "a measure reads 'attention' of maps"
    expected = tallies(model, MeasureObserver({"largest": largest}))
    np.testing.assert_array_equal(found["largest"].total, expected["largest"].total)


def test_a_bias_that_is_no_mask_is_read_in_blocks() -> None:
    model = headscope.wrap(tiny_family("t5"), tiny_tokenizer())
    with fused(model):
        assert model.needs_map == "scores have a position bias of another shape"
    assert "do not run on cpu" in model.needs_map


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")  # of the interpreter
def test_attention_that_is_not_finite_is_refused() -> None:
    model = model_of("bert")
    with fused(model):
        assert model.needs_map == ""
        with torch.no_grad():
            next(model.network.parameters())[:] = torch.nan
        with pytest.raises(HeadscopeError, match="the attention of layer 1 is not finite in example"):
            tallies(model, MeasureObserver(MEASURES))

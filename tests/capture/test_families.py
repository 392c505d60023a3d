"""Every family: captured attention and outputs are those of the eager model, and the model is left as it was."""

from functools import cache

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from headscope.capture import attention_mask, unsupported
from headscope.capture.attention_function import observed
from headscope.capture.self_check import CAPTURES, Capture, check
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models.model import max_tokens, without_decoder
from support import tiny_families
from support.tiers import in_turn
from support.tiny import tiny_tokenizer
from support.tiny_families import EXACT, FOUND, tiny_family

LENGTHS = (37, 20, 9, 30, 2)
# Their `attentions` are what goes into the softmax.
RETURN_SCORES = ("prophetnet", "squeezebert")
# One row of weights for each position: there a limit that is too low would show, too.
LEARNED_POSITIONS = (
    *(
        "albert",
        "bert",
        "camembert",
        "data2vec-text",
        "distilbert",
        "electra",
        "gpt2",
        "ibert",
        "layoutlmv3",
        "markuplm",
    ),
    *("mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)


@cache
def network_of(model_type: str) -> PreTrainedModel:
    with quiet():
        return without_decoder(tiny_family(model_type))


@cache
def capture_of(model_type: str) -> Capture:
    return check(network_of(model_type))


def padded(lengths: tuple[int, ...] = LENGTHS, pad: int | None = 0) -> dict[str, Tensor]:
    ids = torch.randint(3, 60, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(1))
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return {"input_ids": ids.where(real, pad or 0), "attention_mask": real.long()}


def inputs_of(network: PreTrainedModel) -> dict[str, Tensor]:
    return padded(pad=getattr(network.config, "pad_token_id", 0))


@torch.inference_mode()
def eager(network: PreTrainedModel, inputs: dict[str, Tensor]) -> tuple[list[Tensor], Tensor]:
    before = network.config._attn_implementation or ""
    with quiet():
        network.set_attn_implementation("eager")
        output = network(**inputs, output_attentions=True)
        network.set_attn_implementation(before)
    scores = network.config.model_type in RETURN_SCORES
    return [attention.softmax(-1) if scores else attention for attention in output.attentions], output[0]


@torch.inference_mode()
def captured(network: PreTrainedModel, inputs: dict[str, Tensor], capture=observed) -> tuple[list[Tensor], Tensor]:
    maps: dict[int, Tensor] = {}
    shape = (*inputs["input_ids"].shape, inputs["input_ids"].shape[1])

    def keep(layer: int, attention: Tensor, examples: slice, queries: slice, *_: object) -> None:
        full_map = maps.setdefault(layer, torch.full((shape[0], attention.shape[1], *shape[1:]), torch.nan))
        assert full_map[examples, :, queries].isnan().all(), "a row is shown once"
        full_map[examples, :, queries] = attention

    with quiet(), capture(network, keep) as watch:
        output = network(**inputs)[0]
    assert watch.calls == len(maps)
    return [maps[layer] for layer in range(len(maps))], output


def fail(*shown: object) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("model_type", in_turn(EXACT))
def test_is_accepted_with_all_heads(model_type):
    network = network_of(model_type)
    assert capture_of(model_type).heads == tuple(
        attention.shape[1] for attention in eager(network, inputs_of(network))[0]
    )


@pytest.mark.parametrize("model_type", EXACT)
def test_is_exact_on_a_padded_batch_of_many_blocks(model_type, blocks_of):
    network = network_of(model_type)
    inputs = inputs_of(network)
    real = inputs["attention_mask"].bool()
    attentions, output = eager(network, inputs)
    for rows in (10, 80):  # four blocks to an example; two examples to a block
        blocks_of(rows, 0)
        ours, our_output = captured(network, inputs, CAPTURES[capture_of(model_type).method])
        assert len(ours) == len(attentions)
        for mine, theirs in zip(ours, attentions, strict=True):
            torch.testing.assert_close(mine.transpose(1, 2)[real], theirs.transpose(1, 2)[real], rtol=0, atol=1e-5)
            torch.testing.assert_close(mine.sum(-1).transpose(1, 2)[real], torch.ones(sum(LENGTHS), mine.shape[1]))
        torch.testing.assert_close(our_output[real], output[real], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("model_type", in_turn(EXACT, at=1))
@pytest.mark.parametrize("lengths", [LENGTHS, (37,)], ids=["padded", "unpadded"])
def test_masks_for_long_inputs_give_the_same(model_type, lengths, blocks_of, monkeypatch):
    network = network_of(model_type)
    inputs = padded(lengths, getattr(network.config, "pad_token_id", 0))
    real = inputs["attention_mask"].bool()
    blocks_of(10, 0)
    dense, output = captured(network, inputs, CAPTURES[capture_of(model_type).method])
    monkeypatch.setattr(attention_mask, "WHOLE_MASK", 0)
    lazy, lazy_output = captured(network, inputs, CAPTURES[capture_of(model_type).method])
    for ours, theirs in zip(lazy, dense, strict=True):
        torch.testing.assert_close(ours.transpose(1, 2)[real], theirs.transpose(1, 2)[real], rtol=0, atol=1e-6)
    torch.testing.assert_close(lazy_output[real], output[real], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model_type", in_turn(EXACT, at=2))
def test_is_left_as_it_was(model_type):
    network = network_of(model_type)
    inputs = inputs_of(network)
    before = network.config._attn_implementation
    with torch.inference_mode():
        output = network(**inputs)[0]
    captured(network, inputs, CAPTURES[capture_of(model_type).method])
    with pytest.raises(ZeroDivisionError), quiet(), CAPTURES[capture_of(model_type).method](network, fail):
        network(**inputs)
    assert network.config._attn_implementation == before
    assert not network._forward_hooks and not network._forward_pre_hooks
    with torch.inference_mode():
        assert torch.equal(network(**inputs)[0], output)


@pytest.mark.parametrize("model_type", in_turn(EXACT, at=1))
@torch.inference_mode()
def test_takes_inputs_as_long_as_its_limit(model_type):
    network = network_of(model_type)
    limit = max_tokens(network.config, tiny_tokenizer(max_tokens=10**30))
    network(**padded((min(limit, 200),), getattr(network.config, "pad_token_id", 0)))
    if model_type in LEARNED_POSITIONS:
        with pytest.raises((IndexError, RuntimeError)):
            network(**padded((limit + 1,), network.config.pad_token_id))


@pytest.mark.parametrize("model_type", unsupported.REFUSED)
def test_is_refused_by_name_with_its_reason(model_type):
    with quiet(), pytest.raises(HeadscopeError) as error:
        check(without_decoder(tiny_family(model_type)))
    assert str(error.value) == f"model type '{model_type}' {unsupported.REFUSED[model_type]}; use another model"


@pytest.mark.parametrize("model_type", sorted(set(unsupported.REFUSED) - {"bigbird_pegasus", "nystromformer"}))
def test_would_be_refused_if_its_name_were_unknown(model_type, monkeypatch):
    """The other two compute full attention over inputs as short as the check's."""
    monkeypatch.setattr(unsupported, "REFUSED", {})
    with quiet(), pytest.raises(HeadscopeError, match=f"^model type '{model_type}' "):
        check(without_decoder(tiny_family(model_type)))


@pytest.mark.parametrize("model_type", FOUND)
def test_is_refused_for_what_the_check_finds(model_type):
    with pytest.raises(HeadscopeError) as error:
        check(without_decoder(tiny_family(model_type)))
    assert str(error.value) == f"model type '{model_type}' {FOUND[model_type][1]}; use another model"


def test_the_table_of_refused_families_is_whole():
    assert set(tiny_families.REFUSED) == set(unsupported.REFUSED)


def test_an_encoder_that_is_no_model_of_its_own():
    with pytest.raises(HeadscopeError, match="model type 'fsmt': its encoder is a FSMTEncoder, no model"):
        without_decoder(tiny_family("fsmt"))


def test_windows_are_narrower_than_the_input():
    """Otherwise the sliding layers above would say nothing about windows."""
    network = network_of("modernbert")
    full, *sliding = captured(network, padded((37,)))[0]
    beyond = (torch.arange(37)[:, None] - torch.arange(37)).abs() > network.config.local_attention // 2
    assert full[..., beyond].amax() > 0.1
    assert all(attention[..., beyond].amax() == 0 for attention in sliding)

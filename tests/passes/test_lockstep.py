"""Several models in lockstep: the blocks of each are its own, and no thread is left whatever happens."""

import _thread
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import torch
from transformers import DebertaV2Config

import headscope
from headscope import Model
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.passes.batches import collate
from headscope.passes.paired_pass import blocks, lockstep
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer, tiny_vocabulary

NOTHING = np.empty((0, 3), dtype=np.int64)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


@pytest.fixture(autouse=True)
def small_blocks(blocks_of: Callable[..., None]) -> None:
    blocks_of(7)


def bert(seed: int = 0, **config: Any) -> Model:
    return headscope.wrap(tiny_bert(seed, **config), tiny_tokenizer(), f"bert {seed}")


def deberta() -> Model:
    sizes: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4}
    position: dict[str, Any] = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
    config = DebertaV2Config(vocab_size=len(tiny_vocabulary()), intermediate_size=32, **sizes, **position)
    config._attn_implementation = "eager"
    return headscope.wrap(tiny_network(config), tiny_tokenizer(), "deberta")


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Three inputs of different lengths."""
    group = []
    for index, length in enumerate((5, 9, 12)):
        ids = np.random.default_rng(index).integers(5, len(tiny_vocabulary()), length)
        group.append(Encoded(index, {"input_ids": ids}, np.full(length, 3), NOTHING[:, :2], NOTHING))
    return collate(group, pad=0, class_exists=[True] * 4, device=torch.device("cpu"))


def alone(model: Model, batch: Batch) -> list[tuple]:
    """Every block of a forward pass, observed as usual."""
    seen: list[tuple] = []
    with torch.inference_mode(), model.observed(lambda *block: seen.append(block)):
        model.network(**batch.inputs)
    return seen


def test_each_model_shows_what_it_shows_alone(batch: Batch) -> None:
    models = [bert(0), deberta(), bert(1)]
    assert [model.capture.method for model in models] == ["attention interface", "softmax tap", "attention interface"]
    found = list(lockstep(models, batch))
    for index, model in enumerate(models):
        expected = alone(model, batch)
        assert len(found) == len(expected) == 3 * 6  # layers, and blocks of 7 rows at most
        for (layer, rows), (number, attention, examples, queries, entropy, _) in zip(found, expected, strict=True):
            mine = rows[index]
            assert (layer, mine.examples, mine.queries) == (number, examples, queries)
            assert torch.equal(mine.attention, attention)
            assert (mine.row_entropy is None) == (entropy is None)


def test_no_model_is_further_than_the_block_that_was_asked_for(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    models, shown = [bert(0), bert(1)], [0, 0]
    for number, model in enumerate(models):
        network: Any = model.network
        for part in (network.embeddings, *network.encoder.layer):
            monkeypatch.setattr(part, "forward", _telling(part.forward, shown, number))
    with closing(lockstep(models, batch)) as pairs:
        assert shown == [0, 0]
        for layer, _ in pairs:
            assert shown == [layer + 2] * 2  # the embeddings, and the layers up to this one


def _telling(forward: Any, shown: list[int], index: int) -> Any:
    def noted(*args: Any, **keywords: Any) -> Any:
        shown[index] += 1
        return forward(*args, **keywords)

    return noted


def test_gradients_are_off_in_every_thread(batch: Batch) -> None:
    found = list(lockstep([bert(0), deberta()], batch))
    assert all(row.attention.is_inference() for _, rows in found for row in rows)


def test_a_pass_that_is_left_early_ends(batch: Batch) -> None:
    model = bert()
    with closing(blocks(model, batch)) as shown:
        next(shown)
        assert threading.active_count() > 1
    assert not model.network._forward_hooks and model.network.config._attn_implementation != "headscope"
    blocks(model, batch).close()  # never begun


@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt()])
def test_an_error_of_the_reader_ends_all_passes(batch: Batch, error: BaseException) -> None:
    models = [bert(0), bert(1), deberta()]
    with pytest.raises(type(error)), closing(lockstep(models, batch)) as pairs:
        for layer, _ in pairs:
            if layer == 1:
                raise error
    for model in models:
        assert not model.network._forward_hooks and not model.network._forward_pre_hooks
        assert model.network.config._attn_implementation != "headscope"


@pytest.mark.parametrize("index", [0, 1, 2])
def test_an_error_in_a_forward_pass_reaches_the_reader(batch: Batch, index: int) -> None:
    models = [bert(0), bert(1), bert(2)]

    def broken(*_: object) -> None:
        raise ValueError("broken layer")

    layers: Any = models[index].network.encoder
    handle = layers.layer[1].register_forward_hook(broken)
    read = 0
    with pytest.raises(ValueError, match="broken layer"), closing(lockstep(models, batch)) as pairs:
        for _ in pairs:
            read += 1
    assert read == 2 * 6  # the blocks of the layers before
    handle.remove()
    assert len(list(lockstep(models, batch))) == 3 * 6


def test_ctrl_c_while_a_model_computes_ends_all_passes(batch: Batch) -> None:
    models = [bert(0), bert(1)]

    def pressed(*_: object) -> None:
        _thread.interrupt_main()

    layers: Any = models[1].network.encoder
    layers.layer[1].register_forward_hook(pressed)
    with pytest.raises(KeyboardInterrupt), closing(lockstep(models, batch)) as pairs:
        for _ in pairs:
            pass
        threading.Event().wait(60)  # the interrupt may come a moment after the pass


def test_models_that_show_other_blocks_are_an_error(batch: Batch, blocks_of: Callable[..., None]) -> None:
    blocks_of(1, 4 * 12 * 8)
    with pytest.raises(RuntimeError, match="models show different blocks"):
        list(lockstep([bert(0), bert(1, num_attention_heads=2)], batch))
    with pytest.raises(ValueError, match="zip"):
        list(lockstep([bert(0), bert(1, num_hidden_layers=2)], batch))

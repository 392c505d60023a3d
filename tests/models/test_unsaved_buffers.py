"""Buffers that no file holds have the values that the model's class computes, and two loads are equal to the bit."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoModel, BertConfig, PreTrainedModel

import headscope
from headscope.capture.transformers_logging import quiet
from headscope.models.pruned_checkpoint import made_like
from headscope.models.unsaved_buffers import fill_buffers
from support.loading import edit, refusal
from support.tiers import in_turn
from support.tiny import save_tiny, tiny_bert
from support.tiny_families import EXACT, tiny_family

FREQUENCIES = 1.0 / 100 ** (torch.arange(24) / 24)
CODE = """
import torch
from transformers import BertModel

class OwnModel(BertModel):
    def __init__(self, config, add_pooling_layer=True):
        super().__init__(config, add_pooling_layer)
        frequencies = 1.0 / 100 ** (torch.arange(config.hidden_size) / config.hidden_size)
        self.register_buffer("frequencies", frequencies, persistent=False)
        self.register_buffer("nothing", None, persistent=False)
        self.encoder.register_buffer("drawn", torch.randn(8), persistent=False)
        self.plain = torch.arange(config.max_position_embeddings).float()
        {more}

    def forward(self, input_ids=None, **inputs):
        angles = self.plain[: input_ids.shape[1], None] * self.frequencies
        states = self.get_input_embeddings()(input_ids) + 3 * torch.sin(angles) + self.encoder.drawn.mean()
        return super().forward(inputs_embeds=states, **inputs)
"""


def save_code(folder: Path, more: str = "") -> Path:
    """A model whose code lies in its folder, named by it: transformers keeps code by the folder's name."""
    with quiet():
        save_tiny(folder)
    (folder / "modeling_own.py").write_text(CODE.format(more=more))
    edit(folder / "config.json", auto_map={"AutoModel": "modeling_own.OwnModel"}, architectures=["OwnModel"])
    return folder


def buffers(network: PreTrainedModel) -> dict[str, Tensor]:
    return {path: buffer.clone() for path, buffer in network.named_non_persistent_buffers()}


def test_code_of_a_folder_has_the_buffers_that_it_computes(tmp_path: Path) -> None:
    folder, state = save_code(tmp_path / "buffers_of_code"), torch.random.get_rng_state()
    one: Any
    other: Any
    one, other = (headscope.load(str(folder), remote_code=True, device="cpu").network for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.testing.assert_close(one.frequencies, FREQUENCIES)
    assert torch.equal(one.plain, torch.arange(64.0)) and one.nothing is None
    found, again = buffers(one), buffers(other)
    assert {"frequencies", "encoder.drawn"} <= found.keys() == again.keys()
    assert all(torch.equal(found[path], again[path]) for path in found)
    built: Any = type(one)(BertConfig.from_pretrained(folder, attn_implementation="eager")).eval()
    built.load_state_dict(load_file(folder / "model.safetensors"))
    built.encoder.drawn = one.encoder.drawn
    ids = torch.tensor([[2, 9, 40, 41, 42, 3]])
    with torch.inference_mode():
        assert torch.equal(one(ids)[0], built(ids)[0]) and torch.equal(one(ids)[0], other(ids)[0])


def test_parameters_take_no_memory_while_buffers_are_computed(tmp_path: Path) -> None:
    seen = "assert self.embeddings.word_embeddings.weight.is_meta"  # so it is when transformers loads it, too
    assert headscope.load(str(save_code(tmp_path / "no_memory", seen)), remote_code=True, device="cpu")


def test_a_buffer_that_is_computed_from_weights_is_refused(tmp_path: Path) -> None:
    sums = 'self.register_buffer("sums", self.embeddings.word_embeddings.weight.sum(1), persistent=False)'
    folder = save_code(tmp_path / "from_weights", sums)
    said = refusal(folder, remote_code=True, device="cpu")
    assert "computes 'sums' of 'OwnModel' from weights" in said and "make it a persistent buffer" in said


@pytest.mark.parametrize("family", in_turn([*EXACT]))
def test_classes_of_transformers_fill_their_buffers_themselves(family: str, tmp_path: Path) -> None:
    """So that only a class of other code is built once more."""
    with quiet():
        network = tiny_family(family)
        network.save_pretrained(tmp_path)
        loaded, built = buffers(AutoModel.from_pretrained(tmp_path)), buffers(made_like(network))
    assert loaded.keys() == built.keys()
    assert all(torch.equal(loaded[path], built[path]) for path in built), family


def test_a_module_of_another_library_counts_as_other_code() -> None:
    class Other(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("ones", torch.ones(2), persistent=False)

    class Own(type(tiny_bert())):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.other = Other()

    network: Any = Own(tiny_bert().config)
    network.other.ones.zero_()
    fill_buffers(network, "own")
    assert network.other.ones.tolist() == [1, 1]

"""Lengths of gradients, updates and weights against naive sums, and what a training keeps of them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from headscope.training.recorders import KINDS, NormRecorder, is_recorded, path_share, recorded
from support.tiny import tiny_bert


def trained(steps: int, network: Any) -> tuple[dict[str, np.ndarray], list[dict[str, dict[str, torch.Tensor]]]]:
    """The records of some steps, and of each recorded step the tensors of each kind by the names of their weights."""
    recorder, state = NormRecorder(network), SimpleNamespace(global_step=0, max_steps=steps, log_history=[])
    optimizer, kept = torch.optim.AdamW(network.parameters(), lr=1e-2), []
    torch.manual_seed(0)
    for step in range(steps):
        state.global_step = step
        loss = network(input_ids=torch.randint(5, 40, (4, 9)), labels=torch.tensor([0, 1, 0, 1])).loss
        loss.backward()
        state.log_history.append({"step": step + 1, "loss": loss.item()})
        named = dict(network.named_parameters())
        gradients = {name: one.grad.clone() for name, one in named.items()}
        before = {name: one.detach().clone() for name, one in named.items()}
        recorder.on_pre_optimizer_step(None, state, None)  # type: ignore[arg-type]
        optimizer.step()
        recorder.on_optimizer_step(None, state, None)  # type: ignore[arg-type]
        optimizer.zero_grad()
        updates = {name: one.detach() - before[name] for name, one in named.items()}
        kept.append({"gradient": gradients, "update": updates, "weight": before})
    return recorded(state.log_history), [kept[step] for step in range(steps) if is_recorded(step, steps)]


@pytest.fixture(scope="module")
def network() -> Any:
    return tiny_bert(0, BertForSequenceClassification).eval()


def test_norms_of_layers_and_heads_are_the_naive_ones(network: Any) -> None:
    norms, kept = trained(9, network)
    assert len(kept) == 4
    config = network.config
    width = config.hidden_size // config.num_attention_heads
    assert norms["layer_norms"].shape == (3, 4, config.num_hidden_layers)
    for (kind, record, layer), ours in np.ndenumerate(norms["layer_norms"]):
        tensors = kept[record][KINDS[kind]]
        squares = sum(float(one.double().square().sum()) for name, one in tensors.items() if f".layer.{layer}." in name)
        assert ours == pytest.approx(squares**0.5, rel=1e-5)
    for (kind, record, layer, head), ours in np.ndenumerate(norms["head_norms"]):
        tensors, rows = kept[record][KINDS[kind]], slice(head * width, (head + 1) * width)
        path = f"bert.encoder.layer.{layer}.attention"
        parts = [tensors[f"{path}.self.{name}.weight"][rows] for name in ("query", "key", "value")]
        parts.append(tensors[f"{path}.output.dense.weight"][:, rows])
        assert ours == pytest.approx(sum(float(one.double().square().sum()) for one in parts) ** 0.5, rel=1e-5)


def test_a_frozen_encoder_has_no_record() -> None:
    frozen: Any = tiny_bert(0, BertForSequenceClassification)
    frozen.bert.requires_grad_(False)
    recorder = NormRecorder(frozen)
    assert recorder.layers == [] and recorder.heads == [] and recorded([]) == {}


def test_the_way_of_the_weights_is_the_sum_of_updates() -> None:
    norms = np.array([[[9.0, 9.0]] * 2, [[0.1, 0.2], [0.3, 0.2]], [[1.0, 2.0]] * 2])
    assert path_share(norms, steps=10).tolist() == pytest.approx([2.0, 1.0])

"""Tokens that are predicted in a random order see those before them in it, and nothing else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import headscope
from headscope import Settings
from headscope.encoding.masking import IGNORED
from headscope.studies.training.pretrain.permutation import PermutedTrainingSet, seen
from headscope.studies.training.pretrain.plan import PlannedModel, PretrainingPlan, Schedule, Shape
from headscope.studies.training.pretrain.runs import PretrainingRun
from headscope.studies.training.pretrain.text import LabText, lab_text
from headscope.training.dataset import MaskedTrainingSet
from support.claim_texts import repeated
from support.small_tasks import tiny_folder
from support.tiny import tiny_tokenizer


@pytest.fixture(scope="module")
def text() -> LabText:
    return lab_text(tiny_tokenizer(), repeated(0, 40), PretrainingPlan(), 32, 0)


def run(text: LabText, way: str = "permutation", layers: int = 3) -> PretrainingRun:
    recipe = Schedule(max_tokens=32).recipe
    return PretrainingRun(PlannedModel(way, way, Shape(layers, 2, 8)), 3, recipe, text, {}, Path("unused"))


def batch_of(planned: PretrainingRun, number: int, attention: str) -> tuple[Any, dict[str, Tensor]]:
    """A network with large weights, so that each token counts, and a batch of the first inputs."""
    start, examples = planned.start(), planned.examples.train
    batch = examples.collate([examples[index] for index in range(number)], start.pad)
    with torch.no_grad():
        for weight in start.network.parameters():
            weight.mul_(8 if weight.ndim > 1 else 1)
    start.network.set_attn_implementation(attention)
    return start.network.eval(), batch


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_the_loss_of_a_token_has_no_gradient_by_later_ones_or_itself(text: LabText, attention: str) -> None:
    """Through three layers: what leaks would go from a token that sees a later one to one that sees it."""
    planned = run(text)
    network, batch = batch_of(planned, 1, attention)
    states: list[Tensor] = []

    def keep(module: Any, inputs: Any, output: Tensor) -> None:
        output.retain_grad()
        states.append(output)

    network.bert.embeddings.word_embeddings.register_forward_hook(keep)
    encoded, labels = planned.examples.train[0]
    rank, content = encoded.inputs["rank"], len(planned.examples.train.inputs[0])
    predicted = np.flatnonzero(labels != IGNORED)
    assert len(predicted) > 4 and predicted[0] == content
    for query in predicted:
        only = torch.full_like(batch["labels"], IGNORED)
        only[0, query] = batch["labels"][0, query]
        planned.examples.train.loss(network, batch | {"labels": only}).backward()
        assert states[-1].grad is not None
        by_token = states[-1].grad[0, : len(encoded)].abs().sum(-1).numpy()
        hidden = (rank > rank[query]) | ((np.arange(len(encoded)) >= content) & (np.arange(len(encoded)) != query))
        assert (by_token[hidden] == 0).all(), "it sees a later token, or another's [MASK]"
        assert (by_token[~hidden] > 0).all(), "it does not see all before it"


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_one_layer_is_a_plain_bert_that_is_given_what_stands_before(text: LabText, attention: str) -> None:
    """A naive loop: for each predicted token an input of its own, without any attention mask."""
    planned = run(text, layers=1)
    network, batch = batch_of(planned, 3, attention)
    with torch.no_grad():
        loss = planned.examples.train.loss(network, batch)
        naive = []
        for index in range(3):
            encoded, labels = planned.examples.train[index]
            rank, content = encoded.inputs["rank"], len(planned.examples.train.inputs[index])
            for query in np.flatnonzero(labels != IGNORED):
                before = [token for token in range(content) if rank[token] < rank[query]]
                inputs = {
                    name: torch.tensor(encoded.inputs[name][[*before, query]])[None]
                    for name in ("input_ids", "token_type_ids", "position_ids")
                }
                naive.append(-network(**inputs).logits[0, -1].log_softmax(-1)[labels[query]].item())
    assert loss.item() == pytest.approx(np.mean(naive), abs=1e-5)


def test_it_predicts_the_tokens_that_way_tokens_masks_in_new_orders(text: LabText) -> None:
    permuted, masks = run(text).examples.train, run(text, "tokens").examples.train
    assert isinstance(permuted, PermutedTrainingSet) and isinstance(masks, MaskedTrainingSet)
    orders, first = set(), np.zeros(2)
    for epoch in range(30):
        permuted.set_epoch(epoch)
        masks.set_epoch(epoch)
        (encoded, labels), (_, pieces) = permuted[1], masks[1]
        content, places = len(pieces), encoded.inputs["position_ids"]
        plain = permuted.inputs[1].inputs["input_ids"]
        assert np.array_equal(encoded.inputs["input_ids"][:content], plain), "what is predicted stays for later tokens"
        assert (encoded.inputs["input_ids"][content:] == text.tokenizer.mask_token_id).all()
        assert sorted(places[content:]) == np.flatnonzero(pieces != IGNORED).tolist()
        assert np.array_equal(labels[content:], plain[places[content:]]) and (labels[:content] == IGNORED).all()
        orders.add(tuple(places[content:]))
        first += [places[content] < places[content + 1], 1]
    assert len(orders) == 30 and 0.2 < first[0] / first[1] < 0.8
    permuted.set_epoch(0)
    assert tuple(permuted[1][0].inputs["position_ids"]) == tuple(permuted[1][0].inputs["position_ids"])


def test_padding_is_seen_by_none_and_sees_what_is_not_predicted() -> None:
    rank, real = torch.tensor([[0, 0, 2, 1, 0]]), torch.tensor([[1, 1, 1, 1, 0]]).bool()
    visible = seen(rank, real)[0]
    assert visible[:4, 4].sum() == 0 and visible[4, :2].all()


def test_a_planted_cycle_is_learned_and_shuffled_pieces_are_not(tmp_path: Path) -> None:
    folder, quick = str(tiny_folder(tmp_path / "tiny", num_hidden_layers=1)), Settings(resamples=20)
    given: dict[str, Any] = {"ways": "permutation", "seeds": 1, "shapes": "1x2x32", "batch": 4, "masked": 0.15}
    given |= {"epochs": 8, "learning_rate": 1e-2, "max_tokens": 16, "vocabulary": folder}
    learned = headscope.pretrain(repeated(0, 80), quick, directory=tmp_path / "a", **given)
    noise = headscope.pretrain(repeated(0, 80), quick, directory=tmp_path / "b", shuffle=True, **given)
    assert float(learned["frequency_gain"][0]) > 0.4 and float(noise["frequency_gain"][0]) < 0.05

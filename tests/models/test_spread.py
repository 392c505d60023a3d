"""A model that is larger than a device: on disk but for a part, and on two GPUs, which are not really there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertForMaskedLM, BertForSequenceClassification

import headscope
from headscope.capture.spread import is_spread
from headscope.corpora import Options
from headscope.corpora.tasks import masked
from headscope.errors import HeadscopeError
from headscope.front.api import study
from headscope.models.loading import device_map
from headscope.models.random_weights import untrained
from headscope.passes.forward import hidden_states
from headscope.passes.provenance import of_model
from support.adapted import adapted
from support.fake_gpus import FIRST, SECOND, fake_gpus, on_both
from support.tiers import in_turn
from support.tiny import save_tiny, tiny_bert, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

SETTINGS = headscope.Settings(resamples=20)
ALL_ON_DISK, SOME_ON_DISK = "auto:1KiB", "auto:60KiB"
WITHOUT_RANDOM: dict[str, Any] = {"relations": {"untrained": False}, "trees": {"random": False}}
STUDIES = ("profile", "patterns", "syntax", "relations", "coreference", "clusters", "trees")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("bert"))


@contextmanager
def on_disk(folder: Path, *, head: bool = False) -> Iterator[headscope.Model]:
    yield headscope.load(str(folder), head=head, device=SOME_ON_DISK)


@contextmanager
def on_gpus(folder: Path, *, head: bool = False) -> Iterator[headscope.Model]:
    model = headscope.load(str(folder), head=head, device="cpu")
    with fake_gpus():
        yield headscope.wrap(on_both(model.network), model.tokenizer)


def numbers(name: str, model: headscope.Model, directory: Path | None = None) -> dict[str, np.ndarray]:
    read: Any = headscope.read("sample", Options(limit=3))
    read, options = (masked(read), {"directory": directory}) if directory else (read, {})
    seen: Any = (model, untrained(model)) if name == "compare" else model
    result = study(name)(seen, read, settings=SETTINGS, examples=0, **options, **WITHOUT_RANDOM.get(name, {}))
    return {str(key): value.values for key, value in result.data_vars.items() if value.dtype.kind in "fc"}


@pytest.mark.parametrize(
    ("name", "spread"), in_turn([*((name, on_gpus) for name in STUDIES), ("profile", on_disk), ("compare", on_disk)])
)
def test_a_pass_over_a_corpus_gives_the_numbers_of_one_device(name: str, spread: Callable, folder: Path) -> None:
    expected = numbers(name, headscope.load(str(folder), device="cpu"))
    with spread(folder) as model:
        assert is_spread(model.network)
        given = numbers(name, model)
    assert given.keys() == expected.keys() and given
    for key, value in given.items():
        np.testing.assert_allclose(value, expected[key], atol=1e-5, err_msg=key)


@pytest.mark.parametrize("spread", [on_disk, on_gpus])
def test_gradients_and_disabled_heads_are_those_of_one_device(spread: Callable, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, tiny_bert(kind=BertForMaskedLM))
    one = headscope.load(str(folder), head=True, device="cpu")
    expected = numbers("ablate", one, tmp_path / "one") | numbers("gradients", one)
    with spread(folder, head=True) as model:
        assert is_spread(model.network)
        given = numbers("ablate", model, tmp_path / "spread") | numbers("gradients", model)
    for key, value in given.items():
        np.testing.assert_allclose(value, expected[key], atol=1e-5, err_msg=key)


@pytest.mark.parametrize("kind", ["bert", "t5", "gpt2"])
def test_states_of_all_layers_come_to_the_device_of_the_inputs(kind: str, tmp_path: Path) -> None:
    made = tiny_network(tiny_config(kind, vocab_size=len(tiny_vocabulary())))
    folder = save_tiny(tmp_path, made)
    one = headscope.load(str(folder), device="cpu")
    inputs = {"input_ids": torch.tensor([[2, 9, 8, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}
    with torch.no_grad():
        expected = hidden_states(one.network, inputs)
        disk = headscope.load(str(folder), device=ALL_ON_DISK)
        assert is_spread(disk.network) and disk.device.type == "cpu"
        torch.testing.assert_close(hidden_states(disk.network, inputs), expected)
        with fake_gpus():
            gpus = headscope.wrap(on_both(made), tiny_tokenizer())
            states = hidden_states(gpus.network, {name: tensor.to(FIRST) for name, tensor in inputs.items()})
            assert {tensor.device for tensor in (*states, *gpus.network.parameters())} == {FIRST, SECOND}
            assert {state.device for state in states} == {FIRST} == {gpus.device}
            torch.testing.assert_close([state.cpu() for state in states], list(expected))


@pytest.mark.thorough
def test_a_random_model_is_placed_like_the_trained_one(folder: Path) -> None:
    with fake_gpus():
        model = headscope.wrap(on_both(tiny_bert()), tiny_tokenizer())
        devices = {name: weight.device for name, weight in untrained(model).network.named_parameters()}
        assert devices == {name: weight.device for name, weight in model.network.named_parameters()}
    assert not is_spread(untrained(headscope.load(str(folder), device=ALL_ON_DISK)).network)


def test_auto_fills_a_device_before_it_uses_the_next(folder: Path) -> None:
    assert not is_spread(headscope.load(str(folder), device="auto").network)
    some = headscope.load(str(folder), device=SOME_ON_DISK)
    kept = {name for name, weight in some.network.named_parameters() if not weight.is_meta}
    assert 0 < len(kept) < len(list(some.network.parameters())) and "embeddings.word_embeddings.weight" in kept
    assert of_model(some) == of_model(headscope.load(str(folder), device="cpu"))
    nameless = [headscope.wrap(model.network, model.tokenizer) for model in (some, headscope.load(str(folder)))]
    assert of_model(nameless[0]) == of_model(nameless[1])


def test_a_bound_holds_for_gpus_and_without_one_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    room = {0: 2**34, 1: 2**20, "cpu": 2**35}
    monkeypatch.setattr("accelerate.utils.modeling.get_max_memory", lambda: dict(room))
    assert device_map("auto:1GiB")["max_memory"] == {0: 2**30, 1: 2**20, "cpu": 2**35}
    del room[0], room[1]
    assert device_map("auto:1GiB")["max_memory"] == {"cpu": 2**30}
    with pytest.raises(HeadscopeError, match=r"^device 'auto:much': 'much' is no size; write one like auto:20GiB$"):
        device_map("auto:much")


def test_a_weight_on_disk_that_is_not_finite_is_found(tmp_path: Path) -> None:
    file = save_tiny(tmp_path) / "model.safetensors"
    weights = load_file(file)
    weights["encoder.layer.2.output.dense.weight"][1, 2] = torch.nan
    save_file(weights, file, {"format": "pt"})
    with pytest.raises(HeadscopeError, match=r"encoder\.layer\.2\.output\.dense\.weight are not finite in float32"):
        headscope.load(str(tmp_path), device=ALL_ON_DISK)


def test_what_needs_all_weights_on_one_device_is_refused(tmp_path: Path) -> None:
    adapted(tmp_path, tiny_bert(kind=BertForSequenceClassification))
    deberta = tiny_network(tiny_config("deberta-v2", vocab_size=len(tiny_vocabulary())))  # it reads weights of modules
    with pytest.raises(HeadscopeError, match=r"'deberta-v2' fails when it is spread .+; load it on a single one"):
        headscope.load(str(save_tiny(tmp_path / "deberta", deberta)), device=ALL_ON_DISK)
    with pytest.raises(HeadscopeError, match="an adapter cannot be merged on several devices; merge it"):
        headscope.load(str(tmp_path / "adapter"), device=ALL_ON_DISK)
    model = headscope.load(str(tmp_path / "base"), device=ALL_ON_DISK, head=True)
    for name, folder, done in (("attributions", None, "taken apart"), ("prune", tmp_path / "out", "pruned")):
        with pytest.raises(HeadscopeError, match=f"is spread over devices or disk, so that it cannot be {done}; load"):
            numbers(name, model, folder)

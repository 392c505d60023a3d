"""`headscope.Watch`: what it says of heads while a Trainer trains them, beside naive loops; what it leaves alone."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)

import headscope
from headscope import HeadscopeError, Watch
from headscope.capture.self_check import check
from headscope.report.study_page import study_page
from headscope.training.head_statistics import HeadStatistics, evaluating, head_statistics

SIZES: dict[str, Any] = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 16}


def bert() -> PreTrainedModel:
    config = BertConfig(**SIZES, num_attention_heads=2, max_position_embeddings=32)
    return BertForSequenceClassification(config)


def llama() -> PreTrainedModel:
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32}
    return LlamaForCausalLM(LlamaConfig(**SIZES, **heads, pad_token_id=0))


def t5() -> PreTrainedModel:
    sizes: dict[str, Any] = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "decoder_start_token_id": 0}
    return T5ForConditionalGeneration(T5Config(**sizes, vocab_size=50, num_heads=2))


def texts(network: PreTrainedModel, number: int = 24) -> Any:
    """A list of random texts of 4 to 19 tokens; `Trainer` states no type of lists."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(4, 20, (number,), generator=generator).tolist()
    ids = [torch.randint(5, 50, (length,), generator=generator) for length in lengths]
    classes = network.config.model_type == "bert"
    return [{"input_ids": part, "labels": torch.tensor(len(part) % 2) if classes else part} for part in ids]


def collate(rows: list[dict[str, Any]], left: bool = False) -> dict[str, torch.Tensor]:
    """A batch, padded with 0."""
    length = max(len(row["input_ids"]) for row in rows)

    def padded(part: torch.Tensor, filling: int) -> torch.Tensor:
        missing = length - len(part)
        return torch.nn.functional.pad(part, (missing, 0) if left else (0, missing), value=filling)

    labels = [row["labels"] if row["labels"].ndim == 0 else padded(row["labels"], -100) for row in rows]
    ids = torch.stack([padded(row["input_ids"], 0) for row in rows])
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": torch.stack(labels)}


def trainer(folder: Path, callbacks: list[TrainerCallback], make: Any = bert, **options: Any) -> Any:
    set_seed(0)
    network = make()
    arguments = TrainingArguments(
        str(folder / "run"),
        **{"max_steps": 6, "per_device_train_batch_size": 4, "logging_steps": 2, "save_strategy": "no"} | options,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        learning_rate=1e-2,
    )
    return Trainer(network, arguments, train_dataset=texts(network), data_collator=collate, callbacks=callbacks)


def naive(maps: list[torch.Tensor], mask: torch.Tensor) -> dict[str, np.ndarray]:
    """Entropy, sink and received attention of eager maps, in plain loops."""
    layers, heads = len(maps), maps[0].shape[1]
    entropy, sink = np.zeros((layers, heads)), np.zeros((layers, heads))
    received = np.zeros((layers, heads, 10))
    for layer, attention in enumerate(maps):
        for head in range(heads):
            entropies = []
            for text, real in enumerate(mask.tolist()):
                keys = [key for key, value in enumerate(real) if value]
                shares = {}
                for key in keys:
                    shares[key] = sum(float(attention[text, head, query, key]) for query in keys) / len(keys)
                for query in keys:
                    row = [float(value) for value in attention[text, head, query] if value > 0]
                    entropies.append(-sum(value * math.log(value) for value in row))
                sink[layer, head] += max(shares.values()) / len(mask)
                for rank, key in enumerate(keys):
                    received[layer, head, 10 * rank // len(keys)] += shares[key] / len(mask)
            entropy[layer, head] = sum(entropies) / len(entropies)
    return {"entropy": entropy, "sink": sink, "received": received}


@pytest.mark.parametrize(("make", "left"), [(bert, False), (llama, False), (llama, True), (t5, False)])
def test_numbers_are_those_of_eager_maps(make: Any, left: bool) -> None:
    set_seed(1)
    network = make()
    for weight in network.parameters():
        weight.data.mul_(8)  # so that heads differ
    batch = collate(texts(network, 5), left)
    base = network.get_encoder() if make is t5 else network.base_model
    with evaluating(base), torch.no_grad():
        capture = check(base)
        base.set_attn_implementation("eager")
        inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
        maps = base(**inputs, output_attentions=True).attentions
        base.set_attn_implementation("sdpa" if make is not t5 else "eager")
    found = head_statistics(base, capture, batch).numbers()
    for name, expected in naive(maps, batch["attention_mask"]).items():
        np.testing.assert_allclose(found[name], expected, atol=2e-5, err_msg=name)
    assert np.isnan(found["largest"]).all() == (capture.method == "softmax tap")


def test_the_largest_score_is_that_of_a_loop_over_all_pairs() -> None:
    generator = torch.Generator().manual_seed(0)
    query, value = (torch.randn(2, 4, 7, 8, generator=generator) for _ in range(2))
    key = torch.randn(2, 2, 7, 8, generator=generator)
    real = torch.tensor([[1] * 7, [1] * 5 + [0] * 2]).bool()
    hidden = torch.zeros(2, 1, 7, 7).masked_fill(~real[:, None, None] | torch.ones(7, 7).triu(1).bool(), -1e30)
    statistics = HeadStatistics(real)
    statistics.attend(query, key, value[:, :2], 0.5, 3.0, {"mask": hidden, "position bias": None})
    for head in range(4):
        scores = [
            3 * math.tanh(0.5 * float(query[text, head, one] @ key[text, head // 2, other]) / 3)
            for text in range(2)
            for one in range(int(real[text].sum()))
            for other in range(one + 1)
        ]
        assert statistics.numbers()["largest"][0, head] == pytest.approx(max(scores), abs=1e-6)


def test_a_training_goes_on_as_without_it(tmp_path: Path) -> None:
    watch = Watch(steps=2)
    plain, watched = trainer(tmp_path, [], llama), trainer(tmp_path, [watch], llama)
    plain.train()
    watched.train()
    losses = [[log["loss"] for log in run.state.log_history if "loss" in log] for run in (plain, watched)]
    assert losses[0] == losses[1]
    assert all(map(torch.equal, plain.model.parameters(), watched.model.parameters()))
    assert list(watch.readings) == [0, 2, 4]
    assert watched.model.config._attn_implementation == plain.model.config._attn_implementation
    assert watched.model.training


def test_logs_have_the_numbers_and_attached_reporters_too(tmp_path: Path) -> None:
    class Reporter(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, **options: Any) -> None:
            reported.extend(options["logs"])

    reported: list[str] = []
    run = trainer(tmp_path, [Reporter()])
    watch = Watch(steps=4, by="head").attach(run)
    run.train()
    first = run.state.log_history[0]
    assert first["attention/entropy/2-1"] == watch.readings[0]["entropy"][1, 0]
    assert "attention/largest/1-2" in reported
    assert not any(name.startswith("attention") for name in run.state.log_history[1])


def test_one_batch_is_read_each_time_and_the_film_opens(tmp_path: Path) -> None:
    batch = collate(texts(bert(), 3))
    watch = Watch(steps=4, folder=tmp_path / "film", batch=batch)
    trainer(tmp_path, [watch]).train()
    film = headscope.open_result(tmp_path / "film")
    assert film["step"].values.tolist() == [0, 4, 6]
    np.testing.assert_array_equal(film["step_entropy"].sel(step=6).values, watch.readings[6]["entropy"])
    titles = [finding.topic for finding in study_page(film).highlights()]
    assert titles == ["Scores and entropy"]
    np.testing.assert_allclose(film["step_received"].sum("tenth"), 1, atol=1e-5)


def test_an_interrupted_training_goes_on_with_its_film(tmp_path: Path) -> None:
    options = {"save_strategy": "steps", "save_steps": 4}
    batch = collate(texts(bert(), 3))
    complete = Watch(steps=2, batch=batch)
    trainer(tmp_path, [complete]).train()
    trainer(tmp_path, [Watch(steps=2, folder=tmp_path / "film", batch=batch)], max_steps=4, **options).train()
    later = Watch(steps=2, folder=tmp_path / "film", batch=batch)
    trainer(tmp_path, [later], **options).train(resume_from_checkpoint=True)
    assert headscope.open_result(tmp_path / "film")["step"].values.tolist() == [0, 2, 4, 6]
    with pytest.raises(HeadscopeError, match="another run; name another folder"):
        trainer(tmp_path, [Watch(folder=tmp_path / "film")]).train()


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for the old name
def test_adapters_of_peft_are_watched(tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model

    def adapted() -> Any:
        return get_peft_model(bert(), LoraConfig(target_modules=["query", "value"], r=2))

    watch = Watch(steps=3)
    trainer(tmp_path, [watch], adapted).train()
    assert list(watch.readings) == [0, 3]
    assert watch.result.sizes == {"step": 2, "layer": 2, "head": 2, "tenth": 10}


@pytest.mark.parametrize(
    ("options", "words"), [({"steps": 0}, "use 1 or more"), ({"by": "token"}, "'model', 'layer' or 'head'")]
)
def test_other_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(HeadscopeError, match=words):
        Watch(**options)


def test_nothing_read_and_nothing_to_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="nothing was read yet"):
        _ = Watch().result
    with pytest.raises(HeadscopeError, match="a Linear is trained"):
        arguments = TrainingArguments(str(tmp_path), use_cpu=True)
        Watch().on_train_begin(arguments, TrainerState(), TrainerControl(), model=torch.nn.Linear(1, 1))

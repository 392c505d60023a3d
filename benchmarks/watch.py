"""What a reading of `headscope.Watch` costs, beside a training step and a plain forward pass of the same batch.

    python -m benchmarks.watch

Random weights, batches of 2,048 tokens, AdamW, processor seconds of one thread, medians over rounds in which all take
turns. Prints a row for each shape and length: the seconds of a step, a reading as a multiple of a forward pass by
sdpa, and the share of the training's time that a reading at every hundredth step takes.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from benchmarks.profile import SHAPES
from transformers import BertConfig, BertForSequenceClassification

from headscope.capture.self_check import check
from headscope.training.head_statistics import evaluating, head_statistics

EVERY, TOKENS, ROUNDS = 100, 2048, 5
LENGTHS = (64, 128, 512, 1024)


def seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of a call."""
    started = time.thread_time()
    call()
    return time.thread_time() - started


def row(shape: dict[str, Any], length: int) -> tuple[float, float, float]:
    """Median seconds of a step, a plain forward pass and a reading."""
    torch.manual_seed(0)
    sizes = {"num_attention_heads": 12, "max_position_embeddings": max(LENGTHS), "attn_implementation": "sdpa"}
    network: Any = BertForSequenceClassification(BertConfig(**shape, **sizes))
    with evaluating(network):
        capture = check(network.bert)
    optimizer = torch.optim.AdamW(network.parameters())
    ids = torch.randint(1000, 2000, (TOKENS // length, length))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids[:, 0] % 2}

    def step() -> None:
        network.train()(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    def plain() -> None:
        with evaluating(network), torch.no_grad():
            network.bert(input_ids=ids, attention_mask=batch["attention_mask"])

    def read() -> None:
        head_statistics(network.bert, capture, batch).numbers()

    rounds = [[seconds(call) for call in (step, plain, read)] for _ in range(ROUNDS + 1)][1:]
    stepped, passed, reading = (median(column) for column in zip(*rounds, strict=True))
    return stepped, passed, reading


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, shape in SHAPES.items():
        for length in LENGTHS:
            stepped, passed, reading = row(shape, length)
            share = reading / (EVERY * stepped)
            print(f"{name}, {length} tokens: step {stepped:.2f} s, reading {reading / passed:.2f} x plain, {share:.2%}")

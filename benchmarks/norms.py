"""The cost of recording lengths of gradients and updates in a training, beside a step of it.

    python -m benchmarks.norms

Built-in model, batches of 32 inputs of 32 tokens, processor seconds of one thread. On an AMD EPYC a step takes 2.67 s
and a record 0.059 s, 2.2% of it; as every eighth step is recorded, that is 0.3% of a training.
"""

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_

from headscope.corpora import read
from headscope.corpora.tasks import Task
from headscope.models.checkpoint import locate
from headscope.training import initial
from headscope.training.recorders import STEPS_APART, NormRecorder

BATCH, TOKENS, STEPS = 32, 32, 6


def seconds() -> tuple[float, float]:
    """Median processor seconds of a step and of a record."""
    dev = read(["It rained."])
    task = Task(name="made", kind="classification", labels=("no", "yes"), metrics=("accuracy",), dev=dev)
    network: Any = initial(locate("minilm"), task, "finetuned", 0).network
    network.train()
    recorder, optimizer = NormRecorder(network), torch.optim.AdamW(network.parameters(), lr=2e-5)
    ids, labels = torch.randint(1000, 2000, (BATCH, TOKENS)), torch.randint(0, 2, (BATCH,))
    steps, records = [], []
    for _ in range(STEPS):
        state: Any = SimpleNamespace(global_step=0, max_steps=1, log_history=[])
        started = time.thread_time()
        network(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels).loss.backward()
        clip_grad_norm_(network.parameters(), 1.0)
        trained = time.thread_time()
        recorder.on_pre_optimizer_step(None, state, None)
        read_gradients = time.thread_time()
        optimizer.step()
        updated = time.thread_time()
        recorder.on_optimizer_step(None, state, None)
        records.append(read_gradients - trained + time.thread_time() - updated)
        steps.append(trained - started + updated - read_gradients)
        optimizer.zero_grad()
    return float(np.median(steps[1:])), float(np.median(records[1:]))


if __name__ == "__main__":
    torch.set_num_threads(1)
    step, record = seconds()
    share = record / step
    print(f"a step {step:.3f} s, a record {record:.4f} s: {share:.1%} of it, {share / STEPS_APART:.2%} of a training")

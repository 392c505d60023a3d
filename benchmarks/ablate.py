"""Time of the ablation sweep and of the usual loop: one forward pass for each head.

Compares four methods that disable each head and each layer in turn (uniform attention), on pairs as long as those of
RTE, cut at 128 tokens:
(a) loop, sorted: full sdpa forward passes in the sweep's own length-sorted batches, two hooks overwriting a head;
(b) loop, padded: the same in the order of the data, 32 examples at a time, padded to 128;
(c) whole: full passes with headscope's attention intervened in, the fallback of the sweep;
(d) sweep: the study `ablate`, with the check of its fast method.
Ratios are medians over rounds of the ratio to (d) in the same round. A loop is timed on one in `--every` of
its passes, which are all alike, and scaled up. The bound counts multiplications and additions.

    python -m benchmarks.ablate             # both models, some minutes on 2 cores
    python -m benchmarks.ablate --quick     # fewer examples and rounds
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

from headscope import load, wrap
from headscope.ablation.strategies import FullPasses, Variants
from headscope.ablation.sweep import sweep
from headscope.capture.attention_switch import fast
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.outputs.task_inputs import TaskBatch, TaskInputs
from headscope.passes import Settings
from headscope.passes.batches import batches, collate

# Deciles of the lengths of RTE's dev pairs with BERT's pieces, and where they are cut.
DECILES, LONGEST = (17, 34, 38, 43, 48, 53, 60, 71, 99, 134, 253), 128
PADDED = 32
# Of each model: examples, and tokens of a batch. Few examples need small ones, to be as alike in length as many are.
SIZES = {"minilm": (64, 2048), "bert-base": (32, 512)}
NOTHING = np.empty((0, 3), dtype=np.int64)


def model_of(name: str) -> Model:
    """The built-in model with a task head, or a BERT-base shape; heads or all weights are random."""
    minilm = load("minilm", device="cpu")
    torch.manual_seed(0)
    config: Any = minilm.network.config if name == "minilm" else BertConfig()
    network: Any = BertForSequenceClassification(config)
    if name == "minilm":
        network.bert.load_state_dict(minilm.network.state_dict())
    network.set_attn_implementation("eager")  # as `load` leaves a model
    return wrap(network, minilm.tokenizer, name)


def inputs(number: int) -> list[Encoded]:
    """Random pairs as long as those of RTE, in random order."""
    random = np.random.default_rng(0)
    places = (np.arange(number) + 0.5) / number * (len(DECILES) - 1)
    lengths = np.minimum(np.interp(places, range(len(DECILES)), DECILES).astype(int), LONGEST)
    return [pair(index, int(length), random) for index, length in enumerate(random.permutation(lengths))]


def pair(index: int, length: int, random: np.random.Generator) -> Encoded:
    """[CLS] words [SEP] words [SEP]."""
    ids, second = random.integers(1000, 20000, length), np.arange(length) > length * 3 // 4
    ids[[0, length * 3 // 4, -1]] = 101, 102, 102
    token_class = np.full(length, 3)
    token_class[[0, length * 3 // 4, -1]] = 0, 1, 1
    return Encoded(
        index, {"input_ids": ids, "token_type_ids": second.astype(int)}, token_class, NOTHING[:, :2], NOTHING
    )


@dataclass(frozen=True)
class Disabled:
    """Some heads of a layer, from 0, that are disabled."""

    layer: int
    heads: slice


def variants(model: Model) -> list[Disabled]:
    """Each head, and each layer."""
    heads = model.capture.heads
    alone = [Disabled(layer, slice(head, head + 1)) for layer, number in enumerate(heads) for head in range(number)]
    return alone + [Disabled(layer, slice(0, number)) for layer, number in enumerate(heads)]


@contextmanager
def disabled(model: Model, variant: Disabled, real: torch.Tensor) -> Iterator[None]:
    """Within this context heads give the mean of their values: the output of uniform attention."""
    projections = model.projections[variant.layer]
    columns = slice(variant.heads.start * projections.width, variant.heads.stop * projections.width)
    means = []

    def note(module: Any, args: tuple, values: torch.Tensor) -> None:
        chosen = values[..., columns] * real[..., None]
        means.append(chosen.sum(1, keepdim=True) / real.sum(1)[:, None, None])

    def overwrite(module: Any, args: tuple) -> tuple:
        contexts = args[0].clone()
        contexts[..., columns] = means.pop()
        return (contexts,)

    hooks = projections.value.register_forward_hook(note), projections.output.register_forward_pre_hook(overwrite)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def loop(model: Model, groups: Sequence[dict[str, torch.Tensor]], chosen: Sequence[Disabled]) -> None:
    """A forward pass for each variant and batch, with torch's fused attention."""
    with torch.inference_mode(), fast(model.network):
        for variant in chosen:
            for group in groups:
                with disabled(model, variant, group["attention_mask"].to(model.network.dtype)):
                    model.network(**group)


def full_passes(model: Model, groups: Sequence[dict[str, torch.Tensor]], chosen: Sequence[Disabled]) -> None:
    """The same with headscope's attention intervened in."""
    none = np.zeros((len(model.capture.heads), max(model.capture.heads)), dtype=bool)
    with torch.inference_mode():
        for variant in chosen:
            heads = none[[0]].copy()
            heads[0, variant.heads] = True
            for group in groups:
                batch = TaskBatch("classification", model.name, group, [])
                list(FullPasses(model, "uniform").logits(batch, Variants("", variant.layer, heads, none)))


def sorted_batches(model: Model, examples: Sequence[Encoded], settings: Settings) -> list[dict[str, torch.Tensor]]:
    """The batches of the sweep."""
    return [dict(batch.inputs) for batch in batches(model, examples, settings)]


def padded_batches(model: Model, examples: Sequence[Encoded]) -> list[dict[str, torch.Tensor]]:
    """In the order of the data, all of the same length."""
    groups = [list(examples[first : first + PADDED]) for first in range(0, len(examples), PADDED)]
    given = {"pad": 0, "class_exists": [True] * 4, "device": model.device, "pad_to": LONGEST}
    return [dict(collate(group, **given).inputs) for group in groups]


def bound(model: Model, examples: Sequence[Encoded]) -> float:
    """Multiplications of a loop over all heads, as a multiple of the sweep's, without padding."""
    layers, heads = len(model.capture.heads), model.capture.heads[0]
    width, inner = model.network.config.hidden_size, model.network.config.intermediate_size
    lengths = np.array(list(map(len, examples)), dtype=float)
    length = (lengths**2).sum() / lengths.sum()
    forward = 2 * width * inner
    layer = 4 * width**2 + 2 * length * width + forward
    head = width**2 / heads + forward  # one head's share of the output projection
    above = sum(head + (layers - 2 - below) * layer for below in range(layers - 1)) * (heads + 1)
    return (heads + 1) * layers * layers * layer / (above + layers * layer)


def compare(name: str, number: int, rounds: int, step: int) -> None:
    """Print the time of each method and its ratio to the sweep."""
    model, examples, settings = model_of(name), inputs(number), Settings(batch_tokens=SIZES[name][1])
    task = Task(
        name="none",
        kind="classification",
        labels=("0", "1"),
        metrics=("accuracy",),
        dev=Corpus("", "", 0, {}, lambda: iter(())),
    )
    task_inputs = TaskInputs(model, task, examples)
    chosen, alike, padded = variants(model), sorted_batches(model, examples, settings), padded_batches(model, examples)
    methods: dict[str, tuple[Callable[[], object], int]] = {
        "loop, sorted": (lambda: loop(model, alike, chosen[::step]), len(chosen[::step])),
        "loop, padded": (lambda: loop(model, padded, chosen[::step]), len(chosen[::step])),
        "whole": (lambda: full_passes(model, alike, chosen[::step]), len(chosen[::step])),
        "sweep": (lambda: sweep(task_inputs, settings), len(chosen)),
    }
    times: dict[str, list[float]] = {method: [] for method in methods}
    for _ in range(rounds + 1):  # the first warms up
        for method, (run, passes) in methods.items():
            start = time.perf_counter()
            run()
            times[method].append((time.perf_counter() - start) * len(chosen) / passes)
    print(
        f"{name}: {number} examples, {sum(map(len, examples)) / number:.0f} tokens on average, {len(chosen)} variants"
    )
    for method, taken in times.items():
        ratio = median(mine / base for mine, base in zip(taken[1:], times["sweep"][1:], strict=True))
        print(
            f"  {method:14s} {1000 * median(taken[1:]) / number:9.1f} ms an example   {ratio:5.2f} x sweep", flush=True
        )
    print(f"  bound of the loop in sorted batches: {bound(model, examples):.2f} x sweep", flush=True)


def main() -> None:
    """Run both models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer examples and rounds")
    parser.add_argument("--model", choices=("minilm", "bert-base"), help="only this one")
    parser.add_argument("--examples", type=int, help="number of examples instead of 64 and 32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=6, help="time one in N passes of the loops")
    given = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    for name, (number, _) in SIZES.items():
        if given.model in (None, name):
            number = given.examples or number // (2 if given.quick else 1)
            compare(name, number, 2 if given.quick else given.rounds, given.every)


if __name__ == "__main__":
    main()

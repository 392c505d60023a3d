"""Time and memory of `profile`, a plain forward pass, and the usual analysis of kept maps.

Compares four methods on the same segments of exactly 128 tokens, interleaved in one run:
(a) plain: transformers' sdpa forward, no analysis;
(b) eager: the eager forward with output_attentions=True, maps discarded;
(c) peer: as in Clark et al.'s notebook: all maps kept as numpy arrays, then the statistics of
    attention to token classes, offsets and entropy, segment by segment; in float16 (as released) and float32;
(d) profile: every variable of the study `profile`.
Times are processor time, in which other work on the machine does not count; on another device, time on the clock.
Ratios are medians over rounds of the ratio to (a) in the same round; times drift, ratios do not.
Peak memory is that of a process of its own for each method, above the loaded model.

    python -m benchmarks.profile            # everything, about 15 minutes on 2 cores
    python -m benchmarks.profile --quick    # a smaller run of each part
    python -m benchmarks.profile --lengths  # plain and profile from 64 to 2,048 tokens alone
    python -m benchmarks.profile --lengths --device cuda --dtype bfloat16
    python -m benchmarks.profile --shape gpt2        # or llama, modernbert: masks that hide keys, up to 8,192 tokens
    python -m benchmarks.profile --shape gpt2 --layers 2
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from inspect import signature
from statistics import median
from typing import Any

import numpy as np
import torch
from benchmarks.memory import of_own_process, peak
from transformers import AutoModel, BertConfig, BertModel, GPT2Config, LlamaConfig, ModernBertConfig

from headscope import load, wrap
from headscope.catalog import load as load_module
from headscope.encoding.encoder import Encoded
from headscope.measures import SURFACE
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.accumulators import Buffer
from headscope.passes.batches import by_length
from headscope.passes.forward import observing
from headscope.passes.observing import BatchObserver, MeasureObserver

LENGTH = 128
BATCH_TOKENS = Settings().batch_tokens
NOTHING = np.empty((0, 3), dtype=np.int64)


SHAPES = {
    "minilm shape": {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
    "bert-base": {},
}


MASKED = {
    "gpt2": partial(GPT2Config, n_positions=4096),
    "llama": partial(
        LlamaConfig,
        hidden_size=768,
        intermediate_size=2048,
        num_hidden_layers=12,
        num_attention_heads=12,
        num_key_value_heads=4,
        max_position_embeddings=4096,
    ),
    "modernbert": partial(ModernBertConfig, num_hidden_layers=6),
}
MASKED_LENGTHS = (512, 2048, 4096)


def model_of(name: str, device: str = "cpu", dtype: str = "float32", layers: int | None = None) -> Model:
    """The built-in model, or with random weights a shape of `SHAPES` (2,048 positions) or of `MASKED` (some layers)."""
    minilm = load("minilm", device=device, dtype=dtype)
    if name == "minilm":
        return minilm
    torch.manual_seed(0)
    if name in MASKED:
        sizes = {} if layers is None else {"num_hidden_layers": layers}
        network = AutoModel.from_config(MASKED[name](**sizes), attn_implementation="eager").eval()
        return wrap(network, minilm.tokenizer, name)
    network = BertModel(BertConfig(max_position_embeddings=2048, **SHAPES.get(name, {})))
    torch.nn.Module.to(network, device, getattr(torch, dtype))
    network.set_attn_implementation("eager")  # as `load` leaves a model
    return wrap(network, minilm.tokenizer, name)


def segments(number: int, length: int = LENGTH) -> Iterator[Encoded]:
    """Random segments [CLS] words [SEP] words [SEP] with annotation like that of a treebank."""
    random = np.random.default_rng(0)
    return (segment(index, length, random) for index in range(number))


def segment(index: int, length: int, random: np.random.Generator) -> Encoded:
    """One segment: every eighth token punctuation, one feature a word, a verb-subject pair in ten tokens."""
    token_class = np.full(length, 3)
    token_class[::8] = 2
    token_class[[0, length // 2, length - 1]] = 0, 1, 1
    features = np.column_stack([random.integers(0, 6, length), np.arange(length)])
    pairs = random.integers(1, length - 1, (length // 10, 2))
    links = np.concatenate([np.insert(pairs, 0, 0, axis=1), np.insert(pairs[:, ::-1], 0, 1, axis=1)])
    inputs = {"input_ids": random.integers(1000, 20000, length), "token_type_ids": np.zeros(length, dtype=np.int64)}
    return Encoded(index, inputs, token_class, features[np.lexsort(features.T[::-1])], links)


def groups(inputs: Iterable[Encoded]) -> Iterator[list[Encoded]]:
    """Batches as `profile` makes them; all methods use the same."""
    group: list[Encoded] = []
    for encoded in inputs:
        group.append(encoded)
        if (len(group) + 1) * len(encoded) > BATCH_TOKENS:
            yield group
            group = []
    if group:
        yield group


def tensors(model: Model, group: list[Encoded]) -> dict[str, torch.Tensor]:
    """The arguments of the network."""
    stacked = {name: np.stack([encoded.inputs[name] for encoded in group]) for name in group[0].inputs}
    inputs = {name: torch.from_numpy(values).to(model.device) for name, values in stacked.items()}
    return inputs | {"attention_mask": torch.ones_like(inputs["input_ids"])}


def of_model(model: Model, one: Encoded) -> Encoded:
    """A segment without the token types that some models do not take."""
    takes = "token_type_ids" in signature(model.network.forward).parameters
    return one if takes else replace(one, inputs={"input_ids": one.inputs["input_ids"]})


def plain(model: Model, inputs: Iterable[Encoded]) -> None:
    """(a) the sdpa forward."""
    model.network.set_attn_implementation("sdpa")
    for group in groups(inputs):
        with torch.inference_mode():
            model.network(**tensors(model, group))
    model.network.set_attn_implementation("eager")


def eager(model: Model, inputs: Iterable[Encoded]) -> None:
    """(b) the eager forward that returns its maps."""
    for group in groups(inputs):
        with torch.inference_mode():
            model.network(**tensors(model, group), output_attentions=True)


def peer(dtype: type) -> Callable[[Model, Any], object]:
    """(c) all maps kept as `dtype`, then statistics segment by segment in numpy."""

    def run(model: Model, inputs: list[Encoded]) -> object:
        maps = []
        for group in groups(inputs):
            with torch.inference_mode():
                attentions = model.network(**tensors(model, group), output_attentions=True).attentions
            maps += list(torch.stack(attentions, dim=1).numpy().astype(dtype))
        return [
            peer_statistics(encoded.token_class, attention) for encoded, attention in zip(inputs, maps, strict=True)
        ]

    return run


def peer_statistics(token_class: np.ndarray, attention: np.ndarray) -> list[np.ndarray]:
    """The notebook's statistics: maps [layer, head, query, key] times a matrix that selects, for each statistic."""
    number = len(token_class)
    cls, separator, punctuation = (np.tile((token_class == kind).astype(float), (number, 1)) for kind in range(3))
    neighbours = [np.eye(number, k=offset) for offset in (-1, 0, 1)]
    selectors = [cls, separator, punctuation, separator * separator.T, separator * (1 - separator.T), *neighbours]
    statistics = [(attention * selector).sum(-1).sum(-1) / number for selector in selectors]
    smoothed = 0.9999 * attention + 0.0001 / number
    entropy = -(smoothed * np.log(smoothed)).sum(-1).mean(-1)
    return [*statistics, entropy, -(smoothed * np.log(smoothed))[:, :, 0].sum(-1)]


def profile(model: Model, inputs: Iterable[Encoded]) -> object:
    """(d) every variable of the study `profile`."""
    return tallies(model, inputs, MeasureObserver({name: load_module("measures", name) for name in SURFACE}))


def tallies(
    model: Model,
    inputs: Iterable[Encoded],
    observer: BatchObserver[Any],
    on_batch: Callable[[list[Encoded]], None] = lambda group: None,
) -> object:
    """As `Pass.collect`, of inputs that are encoded already."""
    settings = Settings()
    buffer = Buffer(settings.seed, settings.resamples)
    with observing(model, observer) as observe:
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            values = observe(group)
            buffer.add(observer.batch.index, values)
            on_batch(group)
    return buffer.flush()


METHODS = {
    "plain": plain,
    "eager": eager,
    "peer float16": peer(np.float16),
    "peer float32": peer(np.float32),
    "profile": profile,
}


def seconds(model: Model) -> float:
    """The time once the device has no work left."""
    if model.device.type == "cpu":
        return time.process_time()
    torch.accelerator.synchronize()
    return time.perf_counter()


def compare(model: Model, number: int, rounds: int, methods: list[str], length: int = LENGTH) -> dict[str, float]:
    """Print the time of each method and its ratio to (a), medians over rounds; the first round warms up."""
    inputs = [of_model(model, one) for one in segments(number, length)]
    times: dict[str, list[float]] = {method: [] for method in methods}
    for _ in range(rounds + 1):
        for method in methods:
            start = seconds(model)
            METHODS[method](model, inputs)
            times[method].append(seconds(model) - start)
    ratios = {}
    for method, taken in times.items():
        ratios[method] = median(mine / base for mine, base in zip(taken[1:], times["plain"][1:], strict=True))
        print(
            f"  {method:14s} {1000 * median(taken[1:]) / number:9.2f} ms a segment   {ratios[method]:7.2f} x plain",
            flush=True,
        )
    return ratios


def measure_peak(name: str, method: str, number: int, length: int) -> None:
    """Print the peak of a method, once two segments have warmed it up."""
    model = model_of(name)
    METHODS[method](model, list(segments(2, min(length, LENGTH))))
    inputs = segments(number, length)  # not a list, which would grow with their number
    print(json.dumps(peak(lambda: METHODS[method](model, list(inputs) if "peer" in method else inputs))))


def by_masked_length(name: str, layers: int | None, rounds: int) -> None:
    """Compare a shape whose mask hides keys at each length; ModernBERT also at 8,192 tokens."""
    model = model_of(name, layers=layers)
    for length in (*MASKED_LENGTHS, *((8192,) if name == "modernbert" else ())):
        print(f"{name}, a segment of {length} tokens")
        compare(model, 1, rounds, ["plain", "profile"], length)


def by_segment_length(scale: int, device: str, dtype: str) -> None:
    """Compare both shapes at each length, with as many tokens at each."""
    for name in SHAPES:
        model = model_of(name, device, dtype)
        for length in (64, 128, 256, 512, 1024, 2048):
            print(f"{name}, segments of {length} tokens, {device}, {dtype}")
            compare(model, max(1, 8192 // length // scale), 3, ["plain", "profile"], length)


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller run of each part")
    parser.add_argument("--lengths", action="store_true", help="segments of 64 to 2,048 tokens alone")
    parser.add_argument("--shape", choices=MASKED, help="a shape whose mask hides keys")
    parser.add_argument("--layers", type=int, help="layers of that shape (default 12, of modernbert 6)")
    parser.add_argument("--device", default="cpu", help="where the models are (only with --lengths)")
    parser.add_argument("--dtype", default="float32", help="format of the weights (only with --lengths)")
    parser.add_argument("--peak", nargs=4, metavar=("MODEL", "WAY", "NUMBER", "LENGTH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        name, method, number, length = arguments.peak
        return measure_peak(name, method, int(number), int(length))
    scale = 4 if arguments.quick else 1
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    if arguments.shape:
        return by_masked_length(arguments.shape, arguments.layers, 3)
    if arguments.lengths:
        return by_segment_length(scale, arguments.device, arguments.dtype)
    for name, number, rounds in (("minilm", 128 // scale, 9), ("bert-base", 32 // scale, 7)):
        print(f"{name}, {number} segments of {LENGTH} tokens")
        compare(model_of(name), number, max(3, rounds // scale), ["plain", "eager", "peer float32", "profile"])
    print(f"minilm, peer as released, {32 // scale} segments")
    compare(model_of("minilm"), 32 // scale, 4, ["plain", "peer float16", "profile"])
    by_segment_length(scale, "cpu", "float32")
    print("peak memory, MiB above the loaded model (all in all)")
    numbers = (1000 // scale, 10000 // scale)
    runs = [("minilm", method, number, LENGTH) for method in ("plain", "profile") for number in numbers]
    runs += [("minilm", "peer float32", 100, LENGTH), ("minilm", "peer float32", 400, LENGTH)]
    runs += [("bert-base", method, 100, LENGTH) for method in ("plain", "eager", "profile")]
    runs += [("bert-base", method, 1, 2048) for method in ("plain", "eager", "profile")]
    for name, method, number, length in runs:
        above, peak = of_own_process("profile", ["--peak", name, method, str(number), str(length)])
        print(f"  {name:10s} {method:14s} {number:6d} segments of {length:5d}: {above:8.0f} ({peak:.0f})", flush=True)


if __name__ == "__main__":
    main()

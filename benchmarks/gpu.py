"""Attention fused with its statistics on a GPU: is it right, and what does it cost beside a plain pass?

* Kernels against maps in float64: types, widths, lengths, grouped keys, causal, windows, soft caps.
* `profile` of tiny models, fused and in blocks; and twice with the same bits.
* Every variable of `profile`, on the host, x transformers' sdpa pass of the same batches of 65,536 tokens, the size at
  which a plain pass is fastest: medians of five rounds in turns.
* Where the time of one batch goes.

    python -m benchmarks.gpu            # all, under four minutes on an H100
    python -m benchmarks.gpu --quick    # fewer lengths and rounds
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

import torch
from benchmarks.profile import NOTHING, SHAPES, of_model, segments, tensors
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor
from torch.profiler import ProfilerActivity
from torch.profiler import profile as profiler
from transformers import (
    AutoModel,
    BertConfig,
    BertModel,
    Gemma2Config,
    LlamaConfig,
    MistralConfig,
    ModernBertConfig,
    PreTrainedTokenizerFast,
)

from headscope import wrap
from headscope.capture.attention_statistics import attention_statistics
from headscope.capture.band import ALL, FAR, Band
from headscope.capture.fused_attention import LayerAttention, TokenMarks, offset_blocks
from headscope.catalog import load as load_module
from headscope.encoding.encoded import Encoded
from headscope.measures import SURFACE
from headscope.models import Model
from headscope.passes.accumulators import IndexedValues, sent
from headscope.passes.forward import Forward
from headscope.passes.observing import MeasureObserver

TOKENS = 65_536
LENGTHS = (128, 512, 1024, 2048)
DTYPES = (torch.float32, torch.bfloat16)
TINY: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 21000,
}
GROUPED: dict[str, Any] = {**TINY, "num_key_value_heads": 2, "max_position_embeddings": 600}
FAMILIES = {
    "bert": BertConfig(**TINY, max_position_embeddings=600),
    "llama": LlamaConfig(**GROUPED),
    "mistral": MistralConfig(**GROUPED, sliding_window=40),
    "gemma2": Gemma2Config(**GROUPED, head_dim=32, sliding_window=40),
    "modernbert": ModernBertConfig(**TINY, pad_token_id=0, cls_token_id=1, sep_token_id=2, local_attention=32),
}


@dataclass(frozen=True)
class Case:
    """Random queries and keys of one layer."""

    dtype: torch.dtype = torch.float32
    tokens: int = 300
    width: int = 64
    key_heads: int = 4
    band: Band = ALL
    softcap: float | None = None
    sharp: float = 1.0


CASES = (
    *(Case(dtype, tokens) for dtype, tokens in product((*DTYPES, torch.float16), (1, 128, 300, 1024))),
    *(Case(width=width) for width in (24, 32, 80, 128)),
    *(Case(band=band) for band in (Band(FAR, 0), Band(50, 0), Band(33, 33))),
    *(Case(key_heads=2), Case(softcap=20.0), Case(sharp=8.0)),
)


def errors(case: Case, device: str = "cuda") -> dict[str, float]:
    """The largest differences from maps in float64: of outputs, entropies (nats), and shares that keys get."""
    torch.manual_seed(0)
    shape = (2, case.tokens, case.width)
    query = torch.randn(shape[0], 4, *shape[1:], device=device).mul_(case.sharp).to(case.dtype)
    key, value = torch.randn(2, shape[0], case.key_heads, *shape[1:], device=device).to(case.dtype)
    lengths = torch.tensor([case.tokens, max(1, case.tokens - 37)], dtype=torch.int32, device=device)
    nothing = torch.zeros(shape[0], case.tokens, dtype=torch.int32, device=device)
    new = query.new_empty
    lse, entropy = new(2, *query.shape[:3], dtype=torch.float32)
    received = new(shape[0], 4, 4, case.tokens, dtype=torch.float32)
    offsets = new(shape[0], 4, 3, offset_blocks(case.tokens, query), dtype=torch.float32)
    layer = LayerAttention(query, key, lengths, case.width**-0.5, case.softcap, case.band)
    output = layer.attend(value, lse, entropy, offsets=offsets)
    layer.receive(lse, TokenMarks(nothing), received)
    maps, right = reference(layer, value)
    real = (torch.arange(case.tokens, device=device) < lengths[:, None])[:, None]
    at = torch.stack([maps.diagonal(offset, 2, 3).sum(-1) for offset in (-1, 0, 1)], -1)
    return {
        "output": _furthest(output.transpose(1, 2) * real[..., None], right),
        "entropy": _furthest(entropy, torch.special.entr(maps).sum(-1)),
        "received": _furthest(received[:, :, 0], maps.sum(2)),
        "offsets": _furthest(offsets.sum(-1), at) / case.tokens,
    }


def reference(layer: LayerAttention, value: Tensor) -> tuple[Tensor, Tensor]:
    """Maps and outputs in float64; 0 for padded queries."""
    query, key, value = (states.double() for states in (layer.query, layer.key, value))
    group, tokens = query.shape[1] // key.shape[1], query.shape[2]
    scores = query @ key.repeat_interleave(group, 1).mT * layer.scale
    if layer.softcap:
        scores = torch.tanh(scores / layer.softcap) * layer.softcap
    real = (torch.arange(tokens, device=query.device) < layer.lengths[:, None])[:, None]
    seen = real[:, :, None] & layer.band.of(tokens).to(query.device)
    maps = scores.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num(0) * real[..., None]
    return maps, maps @ value.repeat_interleave(group, 1)


def public_errors(case: Case, device: str = "cuda") -> dict[str, float]:
    """The largest differences of `headscope.attention_statistics` on a device from a processor in float64."""
    torch.manual_seed(0)
    query = torch.randn(2, 4, case.tokens, case.width).to(case.dtype)
    key = torch.randn(2, case.key_heads, case.tokens, case.width).to(case.dtype)
    classes, lengths = torch.randint(-1, 3, (2, case.tokens)), torch.tensor([case.tokens, case.tokens - 37])
    asked: dict[str, Any] = {"classes": classes, "lengths": lengths, "causal": case.band.right == 0}
    right = attention_statistics(query.double(), key.double(), **asked)
    asked.update(classes=classes.to(device), lengths=lengths.to(device))
    found = attention_statistics(query.to(device), key.to(device), **asked)
    return {name: _furthest(getattr(found, name).cpu(), value) for name, value in vars(right).items()}


def _furthest(found: Tensor, right: Tensor) -> float:
    return float((found.double() - right).abs().max())


def model_of(config: Any, dtype: torch.dtype = torch.float32, device: str = "cuda") -> Model:
    """A model of random weights, with a tokenizer that is never asked."""
    torch.manual_seed(0)
    network: Any = (
        BertModel(config, add_pooling_layer=False) if isinstance(config, BertConfig) else AutoModel.from_config(config)
    )
    network = network.to(device=torch.device(device), dtype=dtype).eval()
    network.set_attn_implementation("eager")
    vocabulary = {name: number for number, name in enumerate(("[PAD]", "[CLS]", "[SEP]", "[UNK]"))}
    words = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    return wrap(network, PreTrainedTokenizerFast(tokenizer_object=words, **names), config.model_type)


def observer() -> MeasureObserver:
    """An observer of every variable of `profile`."""
    return MeasureObserver({name: load_module("measures", name) for name in SURFACE})


def values(model: Model, inputs: list[Encoded], needs_map: str = "") -> dict[str, Tensor]:
    """Every variable of some inputs; with a reason for maps, in blocks."""
    looking = observer()
    looking.needs_map = needs_map
    found = Forward(model, looking).observe(inputs)
    return {name: value.values * value.valid.reshape(len(value.valid), 1, -1) for name, value in _flat(found).items()}


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: type(value)(value.values.flatten(2) if value.values.ndim > 2 else value.values[..., None], value.valid)
        for name, value in found.items()
    }


def batches(length: int, number: int = 3) -> list[list[Encoded]]:
    """Batches of 65,536 tokens of segments of one length."""
    size = TOKENS // length
    inputs = list(segments(number * size, length))
    return [inputs[first : first + size] for first in range(0, len(inputs), size)]


def read(model: Model, groups: list[list[Encoded]]) -> None:
    """Every variable of `profile` of each input, on the host; without the intervals, which are made there."""
    looking = observer()
    forward, coming = Forward(model, looking), None
    for group in groups:
        found, check = forward.soon(group)
        now = sent(*IndexedValues(looking.batch.unit, found, check))
        if coming:
            coming()
        coming = now
    if coming:
        coming()
    if looking.needs_map:
        raise SystemExit(f"attention was not fused: {looking.needs_map}")


def plainly(model: Model, groups: list[list[Encoded]]) -> None:
    """transformers' sdpa pass."""
    for group in groups:
        with torch.inference_mode():
            model.network(**tensors(model, group))


def seconds(run: Callable[[], object]) -> float:
    """The time of a run, on the clock."""
    torch.cuda.synchronize()
    started = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - started


def ratio(model: Model, length: int, rounds: int) -> tuple[float, float, float]:
    """Milliseconds of a batch, plain and with statistics, and the median ratio."""
    groups, pairs = batches(length), []
    for _ in range(rounds + 1):
        model.network.set_attn_implementation("sdpa")
        without = seconds(lambda: plainly(model, groups))
        model.network.set_attn_implementation("eager")
        pairs.append((without, seconds(lambda: read(model, groups))))
    pairs = pairs[1:]
    milliseconds = [1000 * median(side) / len(groups) for side in zip(*pairs, strict=True)]
    return milliseconds[0], milliseconds[1], median(other / one for one, other in pairs)


def where(model: Model, length: int) -> str:
    """The kernels of one batch that take most time."""
    groups = batches(length, 1)
    read(model, groups)
    with profiler(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
        read(model, groups)
        torch.cuda.synchronize()
    return seen.key_averages().table(sort_by="self_cuda_time_total", row_limit=14, max_name_column_width=60)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two lengths, three rounds")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit(
            "no GPU is at hand: the kernels are tested by Triton's interpreter (tests/capture/test_fused_kernels.py)"
        )
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n\nLargest difference from maps in float64")
    for case in CASES:
        print(case, {name: f"{error:.1e}" for name, error in errors(case).items()}, flush=True)
    print("\nattention_statistics, on the GPU less on a processor in float64")
    for case in (Case(band=Band(FAR, 0)), Case(torch.bfloat16, key_heads=2)):
        print(case, {name: f"{error:.1e}" for name, error in public_errors(case).items()}, flush=True)
    print("\nprofile of tiny models, fused less in blocks; equal bits twice")
    for name, config in FAMILIES.items():
        model, inputs = model_of(config), list(segments(7, 150))
        inputs = [of_model(model, one if index % 2 else _shorter(one)) for index, one in enumerate(inputs)]
        one, again, blocks = values(model, inputs), values(model, inputs), values(model, inputs, "asked for")
        furthest = max(float((one[key] - blocks[key]).abs().max()) for key in one)
        same = all(torch.equal(one[key], again[key]) for key in one)
        print(f"{name}: {furthest:.1e}, same bits {same}; {model.needs_map or 'fused'}", flush=True)
    lengths, rounds = (LENGTHS[::3], 3) if given.quick else (LENGTHS, 5)
    print("\nmilliseconds of 65,536 tokens, plain and with every variable of profile; x plain")
    for (name, shape), dtype in product(SHAPES.items(), DTYPES):
        model = model_of(BertConfig(max_position_embeddings=2048, **shape), dtype)
        for length in lengths:
            without, with_statistics, times = ratio(model, length, rounds)
            kind = str(dtype).removeprefix("torch.")
            print(f"{name:13} {kind:8} {length:5} {without:8.1f} {with_statistics:8.1f} {times:6.2f}", flush=True)
        if dtype == torch.bfloat16:
            for length in (128, 2048):
                print(f"\n{name}, {length} tokens\n{where(model, length)}", flush=True)


def _shorter(one: Encoded) -> Encoded:
    """The first half of a segment, without links."""
    half = len(one) // 2
    inputs = {name: array[:half] for name, array in one.inputs.items()}
    return Encoded(one.index, inputs, one.token_class[:half], one.features[one.features[:, 1] < half], NOTHING)


if __name__ == "__main__":
    main()

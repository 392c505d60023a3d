"""Milliseconds of a shape and of a smaller one with random weights: torch and onnxruntime, float32 and eight bits.

All take turns in each round; medians and 95th percentiles over rounds, of one thread and of two. A smaller shape with
narrower embeddings is an ALBERT whose layers have weights of their own, as `headscope shrink` saves it. Both have the
vocabulary of the built-in model, whose size no pass depends on.

    python -m benchmarks.shrink.shapes --layers 5 --neurons 192 --embeddings 288
    python -m benchmarks.shrink.shapes --base bert-base --layers 10 --neurons 384 --embeddings 576
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.shrink.timing import Timed, file_seconds
from transformers import (
    AlbertConfig,
    AlbertForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedModel,
)

import headscope
from headscope import Model
from headscope.models.onnx import EightBits, export, quantised, session_of
from headscope.outputs.size_and_speed import by_round, pass_seconds

# Layers, width of states, neurons of a layer.
BASES = {"minilm": (6, 384, 1536), "bert-base": (12, 768, 3072)}


def network_of(layers: int, width: int, neurons: int, embeddings: int) -> PreTrainedModel:
    """A classifier of two classes with random weights, an ALBERT if its embeddings are narrower."""
    shape: dict[str, Any] = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": 12}
    shape["intermediate_size"] = neurons
    torch.manual_seed(0)
    if embeddings == width:
        return BertForSequenceClassification(BertConfig(**shape)).eval()
    config = AlbertConfig(vocab_size=30_522, embedding_size=embeddings, num_hidden_groups=layers, **shape)
    return AlbertForSequenceClassification(config).eval()


def ways(name: str, model: Model, folder: Path) -> dict[str, Timed]:
    """What times a pass of a model, by how it is run."""
    source = export(model, folder / f"{name}.onnx")
    target = folder / f"{name}-8.onnx"
    quantised(source, target, EightBits(per_channel=True))
    files = {"onnxruntime": source, "onnxruntime, eight bits": target}
    timed = {f"{name}, {way}": partial(file_seconds, session_of(path)) for way, path in files.items()}
    return {f"{name}, torch": partial(pass_seconds, model), **timed}


def measured(timed: dict[str, Timed], shape: tuple[int, int], rounds: int) -> np.ndarray:
    """Milliseconds, [way, round]; the first round, which warms up, is left out."""
    ids = torch.randint(5, 30_000, shape, generator=torch.Generator().manual_seed(0))
    return 1000 * np.array(by_round([partial(way, ids) for way in timed.values()], rounds + 1))


def main() -> None:
    """Measure, and print a table for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", choices=BASES, default="minilm")
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--neurons", type=int, required=True)
    parser.add_argument("--embeddings", type=int, required=True)
    parser.add_argument("--shapes", default="1x53,1x74,32x53,32x74", help="inputs and their tokens")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    shapes = [(int(number), int(tokens)) for number, tokens in (one.split("x") for one in given.shapes.split(","))]
    layers, width, neurons = BASES[given.base]
    sizes = {"before": (layers, width, neurons, width), "after": (given.layers, width, given.neurons, given.embeddings)}
    tokenizer = headscope.load("minilm").tokenizer
    models = {name: headscope.wrap(network_of(*size), tokenizer) for name, size in sizes.items()}
    for threads in map(int, given.threads.split(",")):
        torch.set_num_threads(threads)
        with tempfile.TemporaryDirectory() as scratch:
            timed = {
                way: one for name, model in models.items() for way, one in ways(name, model, Path(scratch)).items()
            }
            print(f"\nthreads: {threads}\n\n| | {' | '.join(f'{number} of {tokens}' for number, tokens in shapes)} |")
            print(f"| --- |{' ---: |' * len(shapes)}")
            table = [measured(timed, shape, given.rounds) for shape in shapes]
            for row, way in enumerate(timed):
                cells = [f"{np.median(one[row]):.1f} ({np.quantile(one[row], 0.95):.1f})" for one in table]
                print(f"| {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

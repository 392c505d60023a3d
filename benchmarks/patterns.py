"""Time of `patterns`, its parts, `profile`, and a plain forward pass.

Compares four methods on the same segments of exactly 128 tokens and the built-in model, interleaved in one run:
(a) plain: transformers' sdpa forward, no analysis;
(b) profile: every variable of the study `profile`;
(c) grids: maps are pooled to grids, and no grid is classified;
(d) patterns: the whole pass of the study `patterns`.
Ratios are medians over rounds of the ratio to `profile` in the same round; times drift, ratios do not.

    python -m benchmarks.patterns            # about 3 minutes on 2 cores
    python -m benchmarks.patterns --quick
"""

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median

import torch
from benchmarks.profile import LENGTH, model_of, plain, profile, segments, tallies

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import load
from headscope.studies.heads.patterns.exemplars import Clearest
from headscope.studies.heads.patterns.observer import Classify, PatternObserver


def reading(classify: Classify) -> Callable[[Model, Sequence[Encoded]], object]:
    """A pass in which maps become grids, and grids what `classify` makes of them."""

    def run(model: Model, inputs: Sequence[Encoded]) -> object:
        reader, clearest = PatternObserver(classify), Clearest(model)

        def look(group: list[Encoded]) -> None:
            clearest.add("", group, reader.probability, reader.valid)

        return tallies(model, inputs, reader, look)

    return run


def unclassified(grids: torch.Tensor) -> torch.Tensor:
    """The same for all."""
    return grids.new_full((len(grids), len(PATTERNS)), 1 / len(PATTERNS))


METHODS = {
    "plain": plain,
    "profile": profile,
    "grids": reading(unclassified),
    "patterns": reading(load().classify),
}


def compare(number: int, rounds: int) -> None:
    """Print the time of each method and its ratio to `profile`, medians over rounds; the first round warms up."""
    model, inputs = model_of("minilm"), list(segments(number))
    times: dict[str, list[float]] = {method: [] for method in METHODS}
    for _ in range(rounds + 1):
        for method, run in METHODS.items():
            start = time.perf_counter()
            run(model, inputs)
            times[method].append(time.perf_counter() - start)
    for method, taken in times.items():
        ratio = median(mine / base for mine, base in zip(taken[1:], times["profile"][1:], strict=True))
        print(
            f"  {method:10s} {1000 * median(taken[1:]) / number:9.2f} ms a segment   {ratio:7.2f} x profile", flush=True
        )


def main() -> None:
    """Compare the methods."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer segments and rounds")
    arguments = parser.parse_args()
    number, rounds = (32, 3) if arguments.quick else (128, 9)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; minilm, {number} segments of {LENGTH} tokens")
    compare(number, rounds)


if __name__ == "__main__":
    main()

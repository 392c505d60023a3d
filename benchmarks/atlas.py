"""Time of a profile with and without the maps of typical inputs, which the atlas of its page shows.

A profile without maps, and the choice of three typical inputs with their maps, take turns in one run. The share is the
median over rounds of the processor time of the maps, divided by that of the profile in the same round.

    python -m benchmarks.atlas              # the built-in model on the sample
    python -m benchmarks.atlas texts.txt    # on another corpus
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from headscope import load, profile, read
from headscope.passes.attention_maps import with_typical_maps

ROUNDS = 5
NUMBER = 3


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """The processor time of a call. Returns: seconds, and the value of the call."""
    started = time.process_time()
    value = call()
    return time.process_time() - started, value


def main() -> None:
    """Print the times and their ratio for each corpus."""
    model = load("minilm")
    for source in sys.argv[1:] or ["sample"]:
        corpus = read(source)
        _, result = seconds(lambda corpus=corpus: profile(model, corpus, examples=0))  # the first pass is slower
        rounds = []
        for _ in range(ROUNDS):
            study, _ = seconds(lambda corpus=corpus: profile(model, corpus, examples=0))
            maps, _ = seconds(lambda corpus=corpus, result=result: with_typical_maps(result, model, corpus, NUMBER))
            rounds.append((study, maps))
        share = median(maps / study for study, maps in rounds)
        times = " ".join(f"{median(taken):.3f} s" for taken in zip(*rounds, strict=True))
        print(f"{corpus.name}: {corpus.n_examples} examples; profile, maps: {times}; share {share:.1%}")


if __name__ == "__main__":
    main()

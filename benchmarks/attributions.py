"""Time and memory of attributions beside a plain forward pass of the same inputs, in turns in one run.

* streamed: all methods but value zeroing and flow, for every input, one descent through the layers.
* scored: value zeroing and the faithfulness test of all methods, for each scored input.
* flow: the maximum flows of one input.
* memory: of one input of 512 tokens, the most that is allocated beside the model, and the maps of all layers as
  Hugging Face returns them.

    python -m benchmarks.attributions             # the built-in model on 60 inputs of the sample
    python -m benchmarks.attributions texts.txt
"""

import sys
from statistics import median

import numpy as np
import torch
from benchmarks.memory import highest
from benchmarks.passes import plain_passes, timed

from headscope import Settings, load, read
from headscope.corpora import Options
from headscope.encoding.encoder import Words
from headscope.passes.batches import by_length, collator
from headscope.studies.words.attributions import STUDY
from headscope.studies.words.attributions.explaining_pass import explainer
from headscope.studies.words.attributions.maps import flows
from headscope.studies.words.attributions.study import run
from headscope.studies.words.attributions.targets import target_of

ROUNDS, INPUTS, SCORED, LONG = 5, 60, 4, 512


def times(source: str) -> None:
    """Print the ratios to a plain pass."""
    model, corpus, settings = (
        load("minilm"),
        read(source, Options(limit=INPUTS)),
        Settings(batch_tokens=STUDY.options["batch_tokens"]),
    )
    inputs = list(Words(model.tokenizer, model.max_tokens).encode(corpus))
    batches = [collator(model)(group) for group in by_length(inputs, settings.batch_tokens)]
    none, target = (
        {len(batch.real): torch.zeros(len(batch.real), dtype=torch.bool) for batch in batches},
        target_of(model),
    )

    def streamed() -> None:
        with explainer(model, target) as explain:
            for batch in batches:
                size = len(batch.real)
                explain.explain(batch, torch.zeros(size, dtype=torch.long), none[size], none[size])

    plain_passes(model, batches)
    rounds = [(timed(lambda: plain_passes(model, batches))[0], timed(streamed)[0]) for _ in range(ROUNDS)]
    plain = median(one for one, _ in rounds) / len(inputs)
    print(f"plain: {1000 * plain:.1f} ms an input of {np.mean([len(one) for one in inputs]):.0f} tokens")
    print(f"streamed: {median(other / one for one, other in rounds):.1f} times a plain pass")
    without, _ = timed(lambda: run(model, corpus, settings, scored=0, flow=0))
    scored = (timed(lambda: run(model, corpus, settings, scored=SCORED, flow=0))[0] - without) / SCORED
    print(f"scored: {scored:.2f} s an input, {scored / plain:.0f} plain passes")
    random = list(np.random.default_rng(0).dirichlet(np.ones(21), (6, 21)))
    print(f"flow: {timed(lambda: flows(random, np.ones(21) / 21))[0]:.2f} s an input of 21 tokens, six layers")


def memory() -> None:
    """Print the most memory of a descent of one long input."""
    model = load("minilm")
    ids = torch.randint(1000, 20_000, (1, LONG), generator=torch.Generator().manual_seed(0))
    batch = next(
        collator(model)([encoded])
        for encoded in Words(model.tokenizer, LONG, "truncate").encode(read([model.tokenizer.decode(ids[0])]))
    )
    none = torch.zeros(1, dtype=torch.bool)
    before = highest()
    with explainer(model, target_of(model)) as explain:
        explain.explain(batch, torch.zeros(1, dtype=torch.long), none, none)
    grown = highest() - before
    maps = sum(model.capture.heads) * batch.real.numel() ** 2 * 4 / 2**20
    print(f"memory: {grown:.0f} MiB for {batch.real.numel()} tokens; the maps of all layers are {maps:.0f} MiB")


if __name__ == "__main__":
    memory()
    times(sys.argv[1] if len(sys.argv) > 1 else "sample")

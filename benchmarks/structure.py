"""Time of the structural probes of all layers beside those of one layer, and beside the forward pass.

Compares, in turns within one run, on the same sentences of a treebank and for the same number of epochs:
(a) forward: the pass that captures the hidden states of all layers;
(b) one: both probes of a single layer, by the default recipe of the study;
(c) all: both probes of all layers and of the two baselines, as the study trains them;
(d) in turn: all of them, one after the other.
Losses of (c) and (d) are compared: they are the same to 1e-4. Time is that of the processor (one thread), ratios are
medians over rounds.

    python -m benchmarks.structure TREEBANK.conllu [--model minilm] [--limit 1500] [--epochs 6] [--rounds 3]
"""

import argparse
import time
from functools import partial
from statistics import median

import numpy as np
import torch
from benchmarks.passes import timed

from headscope import load, read
from headscope.corpora import Options
from headscope.passes import Settings
from headscope.passes.captured_treebanks import capture_treebanks
from headscope.studies.layers.structure.train import FittedProbes, ProbeRecipe, fit
from headscope.studies.layers.structure.treebank_states import TreebankStates, states_pass


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank")
    parser.add_argument("--model", default="minilm")
    for name, default in (("limit", 1500), ("epochs", 6), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, settings = load(given.model), Settings()
    corpus = read(given.treebank, Options(limit=given.limit))
    recipe = ProbeRecipe(epochs=given.epochs)
    rows = []
    for number in range(given.rounds):
        start = time.process_time()
        with capture_treebanks(
            TreebankStates, partial(states_pass, model, settings), corpus, None, 4 * 10**9
        ) as states:
            forward = time.process_time() - start
            train = states.train

            def trained(spaces: slice, train: TreebankStates = train) -> FittedProbes:
                some = TreebankStates(train.sentences, [array[spaces].clone() for array in train.arrays])
                return fit(some, recipe, 0, model.device)

            count = len(train.arrays[0])
            one, _ = timed(lambda trained=trained: trained(slice(2, 3)))
            at_once, together = timed(lambda trained=trained, count=count: trained(slice(0, count)))
            alone = [
                timed(lambda space=space, trained=trained: trained(slice(space, space + 1))) for space in range(count)
            ]
        turns = sum(seconds for seconds, _ in alone)
        rows.append((forward, one, at_once, turns))
        first = abs(together.losses[0, 0, 0] - alone[0][1].losses[0, 0, 0])
        print(f"round {number + 1}: forward {forward:.1f} s, one {one:.1f}, all {at_once:.1f}, in turn {turns:.1f}; "
              f"difference of the first loss {first:.1e}", flush=True)  # fmt: skip
    forward, one, at_once, turns = np.array(rows).T
    print(f"all / one: {median(at_once / one):.2f}; in turn / all: {median(turns / at_once):.2f}")
    print(f"(forward + all) / (forward + one): {median((forward + at_once) / (forward + one)):.2f}")


if __name__ == "__main__":
    main()

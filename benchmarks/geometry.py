"""Time and memory of the geometry of hidden states beside a plain forward pass and a loop over kept states.

Compares, in turns within one run, on the same texts:
(a) plain: the forward pass (sdpa), no analysis;
(b) geometry: the whole study, with intervals: samples of states that merge, and means over inputs;
(c) loop: the states of all tokens and layers kept, then for each layer in numpy the cosines of all pairs of
    occurrences of each token (self-similarity), of 4,096 random tokens (anisotropy), and of each input's tokens with
    their mean (intra-sentence similarity): three numbers a layer, no intervals.
The numbers of (b) and (c) are compared; (b) keeps up to 32 occurrences of a token. Time is that of the processor (one
thread), ratios are medians over rounds; memory is the peak of the process after (b), then after (c).

    python -m benchmarks.geometry texts.txt [--limit 1000] [--rounds 3]
"""

import argparse
from collections import defaultdict
from statistics import median

import numpy as np
import torch
from benchmarks.memory import highest
from benchmarks.passes import plain_passes, timed

from headscope import Model, load, read
from headscope.corpora import Options
from headscope.encoding.batch import Batch
from headscope.encoding.encoder import Words
from headscope.passes import Settings
from headscope.passes.batches import by_length, collator
from headscope.passes.forward import hidden_states
from headscope.studies.layers.geometry.hidden_pass import is_word
from headscope.studies.layers.geometry.similarity import LEAST_CONTEXTS
from headscope.studies.layers.geometry.study import run

SAMPLE = 4096
NAMES = ("self_similarity", "anisotropy", "intra_sentence")


def loop(model: Model, batches: list[Batch]) -> np.ndarray:
    """The three numbers of each layer, [number, layer]."""
    states, tokens, inputs = [], [], []
    with torch.inference_mode():
        for number, batch in enumerate(batches):
            hidden = torch.stack(hidden_states(model.network, batch.inputs)[1:])  # [layer, example, token, width]
            among = is_word(batch)
            states.append(hidden[:, among].numpy())
            tokens += batch.inputs["input_ids"][among].tolist()
            inputs += [(number, example) for example in among.nonzero()[:, 0].tolist()]
    vectors = np.concatenate(states, axis=1)
    units = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    chosen = np.random.default_rng(0).permutation(len(tokens))[:SAMPLE]
    occurrences = [positions for positions in _places(tokens) if len(positions) >= LEAST_CONTEXTS]
    return np.array(
        [_numbers(*by_space, occurrences, _places(inputs), chosen) for by_space in zip(units, vectors, strict=True)]
    ).T


def _places(keys: list) -> list[np.ndarray]:
    """The places of each key."""
    places = defaultdict(list)
    for position, key in enumerate(keys):
        places[key].append(position)
    return [np.array(positions) for positions in places.values()]


def _numbers(units: np.ndarray, states: np.ndarray, occurrences: list, inputs: list, chosen: np.ndarray) -> list[float]:
    means = [states[positions].mean(0) for positions in inputs]
    own = [
        (units[positions] @ mean / np.linalg.norm(mean)).mean() for positions, mean in zip(inputs, means, strict=True)
    ]
    return [
        float(np.mean([_pairs(units[positions]) for positions in occurrences])),
        _pairs(units[chosen]),
        float(np.mean(own)),
    ]


def _pairs(units: np.ndarray) -> float:
    """The mean cosine of all pairs of different vectors."""
    cosines = units @ units.T
    return float((cosines.sum() - np.trace(cosines)) / (len(units) * (len(units) - 1)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, settings = load("minilm"), Settings()
    corpus = read(given.texts, Options(limit=given.limit))
    inputs = list(Words(model.tokenizer, model.max_tokens).encode(corpus))
    batches = [collator(model)(group) for group in by_length(inputs, settings.batch_tokens)]

    rows = []
    for _ in range(given.rounds):
        one, _ = timed(lambda: plain_passes(model, batches))
        study, result = timed(lambda: run(model, corpus, settings))
        peak = highest()
        naive, numbers = timed(lambda: loop(model, batches))
        rows.append((one, study, naive))
        gap = abs(np.stack([result[name].values for name in NAMES]) - numbers).max()
        print(f"plain {one:.2f} s, geometry {study:.2f}, loop {naive:.2f}; peak {peak:.0f} and {highest():.0f} MiB; "
              f"largest difference {gap:.3f}", flush=True)  # fmt: skip
    print(f"geometry / plain: {median(study / one for one, study, _ in rows):.2f}")
    print(f"loop / geometry: {median(naive / study for _, study, naive in rows):.2f}")


if __name__ == "__main__":
    main()

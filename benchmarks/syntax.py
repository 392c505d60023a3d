"""Time and memory of `syntax`, a plain forward pass, and the released notebook of Clark et al.

Compares four methods on the same sentences of a treebank, interleaved in one run:
(a) plain: transformers' sdpa forward in the batches of (d), no analysis;
(b) released: as in Clark et al.'s notebook, written anew: eager forward passes of 16 sentences in their order,
    padded to 128 tokens, all maps kept as numpy arrays (in float32, which is faster than the released float16), made
    into attention between words head by head, then for every head and direction an argmax in each sentence, whose
    words are scored one by one;
(c) sorted: the same with the batches of (d);
(d) syntax: the whole study, with intervals, tests and the choice of heads on one half.
Accuracies of (b), (c) and (d) are compared: they are the same but for equal words. Time is that of the processor
(one thread), ratios are medians over rounds. Peak memory is that of a process of its own for each method,
above the loaded model.

    python -m benchmarks.syntax TREEBANK.conllu [--limit 400] [--rounds 3]
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from statistics import median

import numpy as np
import torch
import xarray as xr
from benchmarks.memory import of_own_process, peak

from headscope import Corpus, Model, load, read
from headscope.corpora import Options
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Sentence
from headscope.passes import Settings
from headscope.passes.batches import by_length, collate
from headscope.studies.heads.syntax import study as syntax

Scores = dict[tuple[int, int, str], Counter[str]]
Batches = Iterator[tuple[list[Encoded], dict[str, torch.Tensor]]]
PADDED, TOGETHER = 128, 16


def sorted_batches(model: Model, corpus: Corpus) -> Batches:
    """The batches that `syntax` makes."""
    words = Words(model.tokenizer, PADDED, aligned=True)
    for group in by_length(words.encode(corpus), Settings().batch_tokens):
        yield group, tensors(model, group)


def released_batches(model: Model, corpus: Corpus) -> Batches:
    """Sixteen sentences in their order, padded to 128 tokens."""
    inputs = Words(model.tokenizer, PADDED, aligned=True).encode(corpus)
    while group := list(islice(inputs, TOGETHER)):
        yield group, tensors(model, group, PADDED)


def tensors(model: Model, group: list[Encoded], pad_to: int = 0) -> dict[str, torch.Tensor]:
    """The arguments of the network."""
    return dict(collate(group, pad=0, class_exists=[True] * 4, device=model.device, pad_to=pad_to).inputs)


def plain(model: Model, corpus: Corpus) -> None:
    """(a) the sdpa forward."""
    model.network.set_attn_implementation("sdpa")
    for _, inputs in sorted_batches(model, corpus):
        with torch.inference_mode():
            model.network(**inputs)
    model.network.set_attn_implementation("eager")


def released(model: Model, corpus: Corpus) -> Scores:
    """(b) the peer with its own batches."""
    return peer(released_batches(model, corpus), model)


def by_length_too(model: Model, corpus: Corpus) -> Scores:
    """(c) the peer with better ones."""
    return peer(sorted_batches(model, corpus), model)


def peer(batches: Batches, model: Model) -> Scores:
    """All maps kept, then sentence by sentence and head by head in numpy."""
    kept: list[tuple[Encoded, np.ndarray]] = []
    for group, inputs in batches:
        with torch.inference_mode():
            maps = torch.stack(model.network(**inputs, output_attentions=True).attentions, dim=1).numpy()
        for encoded, attention in zip(group, maps, strict=True):
            kept.append((encoded, attention[..., : len(encoded), : len(encoded)].copy()))
    sentences = [(_sentence(encoded), _between(attention, encoded.pieces)) for encoded, attention in kept]
    layers, heads = sentences[0][1].shape[:2]
    return {
        (layer, head, direction): _scored(
            (sentence, attention[layer, head] if direction == "dependent_to_head" else attention[layer, head].T)
            for sentence, attention in sentences
        )
        for layer in range(layers)
        for head in range(heads)
        for direction in ("dependent_to_head", "head_to_dependent")
    }


def _sentence(encoded: Encoded) -> Sentence:
    assert encoded.example is not None
    return encoded.example.first[0]


def _between(attention: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Attention between words, head by head: columns of a word are summed, then its rows averaged."""
    words = [pieces[pieces[:, 0] == word, 1] for word in range(pieces[-1, 0] + 1)]
    return np.stack([np.stack([_of_head(head, words) for head in layer]) for layer in attention])


def _of_head(attention: np.ndarray, words: list[np.ndarray]) -> np.ndarray:
    to_words = np.stack([attention[:, tokens].sum(-1) for tokens in words], axis=1)
    return np.stack([to_words[tokens].mean(0) for tokens in words])


def _scored(sentences: Iterable[tuple[Sentence, np.ndarray]]) -> Counter[str]:
    """Number of words of each relation that one head gets right."""
    right: Counter[str] = Counter()
    for sentence, attention in sentences:
        attention = attention.copy()
        np.fill_diagonal(attention, -1)
        predictions = attention.argmax(-1).tolist()
        for predicted, head, relation in zip(predictions, sentence.heads, sentence.deprel, strict=True):
            right[relation.partition(":")[0]] += predicted == head - 1
    return right


def study(model: Model, corpus: Corpus) -> xr.Dataset:
    """(d) the whole study."""
    return syntax.run(model, corpus)


METHODS: dict[str, Callable[[Model, Corpus], object]] = {
    "plain": plain,
    "released": released,
    "sorted": by_length_too,
    "syntax": study,
}


def compare(corpus: Corpus, rounds: int) -> None:
    """Print the time of each method and its ratio to (a) and to (c), medians over rounds; the first warms up."""
    model, times = load("minilm", device="cpu"), {method: [] for method in METHODS}
    outputs: dict[str, object] = {}
    for number in range(rounds + 1):
        for method, run in METHODS.items():
            start = time.process_time()
            outputs[method] = run(model, corpus)
            if number:
                times[method].append(time.process_time() - start)
    apart = max(difference(outputs[method], outputs["syntax"]) for method in ("released", "sorted"))
    print(f"largest difference of an accuracy: {apart:.1e}")
    for method, taken in times.items():
        to_plain, to_study = (
            median(mine / base for mine, base in zip(taken, times[other], strict=True)) for other in ("plain", "syntax")
        )
        print(f"  {method:8s} {median(taken):7.2f} s   {to_plain:6.2f} x plain   {to_study:6.2f} x syntax")


def difference(scores: object, result: object) -> float:
    """Largest difference between the accuracies of the two methods."""
    assert isinstance(scores, dict) and isinstance(result, xr.Dataset)
    apart = 0.0
    for (layer, head, direction), right in scores.items():
        accuracy = result["accuracy"].sel(layer=layer + 1, head=head + 1, direction=direction)
        for relation, count in right.items():
            if relation in result["relation"]:
                words = int(result["accuracy_n_examples"].sel(relation=relation))
                apart = max(apart, abs(float(accuracy.sel(relation=relation)) - count / words))
    return apart


def measure_peak(method: str, corpus: Corpus) -> None:
    """Print the peak of a method, once two sentences have warmed it up."""
    model = load("minilm", device="cpu")
    few = list(corpus)[:2]
    METHODS[method](model, Corpus("few", "", len(few), {}, lambda: iter(few)))
    print(json.dumps(peak(lambda: METHODS[method](model, corpus))))


def main() -> None:
    """Print times, then memory for `--limit` sentences and for a quarter of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", help="a CoNLL-U file whose sentences stand alone")
    parser.add_argument("--limit", type=int, default=400, help="sentences")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak", choices=METHODS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    corpus = read(arguments.treebank, Options(limit=arguments.limit))
    if arguments.peak:
        return measure_peak(arguments.peak, corpus)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; {len(corpus)} sentences of {corpus.name}")
    compare(corpus, arguments.rounds)
    print("peak memory, MiB above the loaded model")
    for method in METHODS:
        for limit in (arguments.limit // 4, arguments.limit):
            above, _ = of_own_process("syntax", [arguments.treebank, "--limit", str(limit), "--peak", method])
            print(f"  {method:8s} {limit:6d} sentences: {above:7.0f}", flush=True)


if __name__ == "__main__":
    main()

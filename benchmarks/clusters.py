"""Time and memory of `clusters`, a plain forward pass, and the released code of Clark et al.

Compares four methods on the same segments, interleaved in one run:
(a) plain: transformers' sdpa forward in the batches of (d), no analysis;
(b) released: as in Clark et al.'s code, written anew: eager forward passes, all maps kept as numpy arrays in
    float16, then for each segment and head the divergence of the head from all heads, each pair twice, smoothed;
(c) float32: the same with maps kept and divergences computed in float32;
(d) clusters: the whole study with `as_coded`, whose divergences are the same sums; with statistics of attention,
    intervals, points and clusters.
Divergences of (b), (c) and (d) are compared. Time is that of the processor (one thread), ratios are medians over
rounds; (b) takes so long that it is run once on few segments, and (d) on the same ones. Peak memory is that of a
process of its own for each method, above the loaded model.

    python -m benchmarks.clusters TEXT [--limit 96] [--rounds 3]
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from statistics import median

import numpy as np
import torch
import xarray as xr
from benchmarks.memory import of_own_process, peak

from headscope import Corpus, Model, load, read
from headscope.corpora import Options
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words, offsets_of
from headscope.models.checkpoint import locate
from headscope.passes import Settings
from headscope.passes.batches import by_length, collate
from headscope.studies.heads.clusters import study as clusters

TOGETHER, BATCH_TOKENS = 16, 512
FEW = 2


def groups(model: Model, corpus: Corpus, *, by_size: bool) -> Iterator[dict[str, torch.Tensor]]:
    """The arguments of the network: the batches that `clusters` makes, or sixteen segments in their order."""
    inputs = Words(model.tokenizer, model.max_tokens).encode(corpus)
    batches = by_length(inputs, BATCH_TOKENS) if by_size else iter(lambda: list(islice(inputs, TOGETHER)), [])
    for group in batches:
        yield tensors(model, group)


def tensors(model: Model, group: list[Encoded]) -> dict[str, torch.Tensor]:
    """A batch, as the network wants it."""
    return dict(collate(group, pad=0, class_exists=[True] * 4, device=model.device).inputs)


def plain(model: Model, corpus: Corpus) -> None:
    """(a) the sdpa forward."""
    model.network.set_attn_implementation("sdpa")
    for inputs in groups(model, corpus, by_size=True):
        with torch.inference_mode():
            model.network(**inputs)
    model.network.set_attn_implementation("eager")


def peer(kind: type[np.floating], model: Model, corpus: Corpus, compared: int | None = None) -> np.ndarray:
    """(b) and (c): all maps kept, then head by head in numpy, for the first `compared` segments."""
    kept: list[np.ndarray] = []
    for inputs in groups(model, corpus, by_size=False):
        with torch.inference_mode():
            maps = torch.cat(model.network(**inputs, output_attentions=True).attentions, dim=1).numpy()
        lengths = inputs["attention_mask"].sum(1).tolist()
        kept += [batch_maps[:, :length, :length].astype(kind) for batch_maps, length in zip(maps, lengths, strict=True)]
    heads = len(kept[0])
    distances = np.zeros((heads, heads))
    for attention in kept[:compared]:
        smoothed = (kind(0.001) / kind(attention.shape[-1])) + attention * kind(0.999)
        for head in range(heads):
            one = smoothed[head : head + 1]
            mean = (one + smoothed) / 2
            divergence = -one * np.log(mean / one)
            divergence += -smoothed * np.log(mean / smoothed)
            divergence /= 2
            distances[head] += divergence.sum(-1).sum(-1)
    return distances


def study(model: Model, corpus: Corpus) -> xr.Dataset:
    """(d) the whole study."""
    return clusters.run(model, corpus, Settings(batch_tokens=BATCH_TOKENS), as_coded=True)


METHODS: dict[str, Callable[[Model, Corpus], object]] = {
    "plain": plain,
    "released": partial(peer, np.float16),
    "float32": partial(peer, np.float32),
    "clusters": study,
}


def timed(method: str, model: Model, corpus: Corpus) -> tuple[float, object]:
    """Seconds of the processor, and the output of the method."""
    start = time.process_time()
    output = METHODS[method](model, corpus)
    return time.process_time() - start, output


def compare(corpus: Corpus, few: Corpus, rounds: int) -> None:
    """Print the time of each method and its ratio to (d), medians over rounds; the first warms up."""
    model, outputs = load("minilm", device="cpu"), dict[str, object]()
    names = ("plain", "float32", "clusters")
    times: dict[str, list[float]] = {method: [] for method in names}
    for number in range(rounds + 1):
        for method in names:
            taken, outputs[method] = timed(method, model, corpus)
            if number:
                times[method].append(taken)
    print(
        f"largest difference of a divergence, float32: {difference(outputs['float32'], outputs['clusters']):.1e} of it"
    )
    for method, taken in times.items():
        to_plain, to_study = (
            median(mine / base for mine, base in zip(taken, times[other], strict=True))
            for other in ("plain", "clusters")
        )
        a_segment = 1000 * median(taken) / len(corpus)
        print(
            f"  {method:8s} {a_segment:9.1f} ms a segment {to_plain:8.2f} x plain {to_study:8.2f} x clusters",
            flush=True,
        )
    part = len(corpus) // 4
    further = (median(times["clusters"]) - timed("clusters", model, first(corpus, part))[0]) / (len(corpus) - part)
    print(f"  clusters {1000 * further:9.1f} ms for each further segment: points and clusters are made once")
    released, distances = timed("released", model, few)
    _, result = timed("clusters", model, few)
    by_segment, study_each = released / len(few), median(times["clusters"]) / len(corpus)
    print(f"largest difference of a divergence, float16: {difference(distances, result):.1e} of it")
    ratios = f"{by_segment / study_each:29.1f} x clusters ({by_segment / further:.0f} x further)"
    print(f"  released {1000 * by_segment:9.1f} ms a segment {ratios}")


def difference(distances: object, result: object) -> float:
    """The largest relative difference of the divergences of two methods, of pairs of different heads."""
    assert isinstance(distances, np.ndarray) and isinstance(result, xr.Dataset)
    one, other = np.triu_indices(len(distances), 1)
    expected = result["divergence"].values.reshape(distances.shape)[one, other]
    return float(np.abs(distances[one, other] / expected - 1).max())


def first(corpus: Corpus, number: int) -> Corpus:
    """The first examples of a corpus."""
    few = list(islice(corpus, number))
    return Corpus(corpus.name, corpus.sha256, len(few), {}, lambda: iter(few))


def measure_peak(method: str, corpus: Corpus) -> None:
    """Print the peak of a method, once two segments have warmed it up.

    The peers keep the maps of all segments, and compare the heads of the first only: more would need no more memory.
    """
    model = load("minilm", device="cpu")
    kinds = {"released": np.float16, "float32": np.float32}
    run = partial(peer, kinds[method], compared=1) if method in kinds else METHODS[method]
    run(model, first(corpus, 2))
    print(json.dumps(peak(lambda: run(model, corpus))))


def main() -> None:
    """Print times, then memory for `--limit` segments and for four times as many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="a text with one paragraph a line; pairs of them make segments")
    parser.add_argument("--limit", type=int, default=96, help="segments")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak", choices=METHODS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    corpus = read(
        arguments.text, Options(kind="paragraphs", limit=arguments.limit), offsets=offsets_of(locate("minilm"))
    )
    if arguments.peak:
        return measure_peak(arguments.peak, corpus)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; {len(corpus)} segments of {corpus.name}")
    compare(corpus, first(corpus, FEW), arguments.rounds)
    print("peak memory, MiB above the loaded model")
    for method in METHODS:
        for limit in (arguments.limit, 4 * arguments.limit):
            above, _ = of_own_process("clusters", [arguments.text, "--limit", str(limit), "--peak", method])
            print(f"  {method:8s} {limit:6d} segments: {above:7.0f}", flush=True)


if __name__ == "__main__":
    main()

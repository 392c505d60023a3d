"""Ways to make one model smaller, side by side on one task: scores over seeds, bytes, milliseconds, and one figure.

At one size: ours (`headscope shrink`), with narrower embeddings, and these twice as fast, all also in eight bits; by
gates; and, alone, eight bits, half of the layers distilled, fewer pieces of the vocabulary, a
quarter of the heads (Michel et al. 2019, untrained), a static table of token vectors (as model2vec), and the whole
model. Scores are of dev: of the whole model with the 95% interval over examples, of the others with that of the mean
over seeds (from three on), each of which draws its examples of train. Milliseconds are medians of one thread, of the
models of the first seed, in turns. The figure has both methods at several sizes.

    headscope finetune minilm --task sst2 --data FOLDER --limit 4000 --epochs 2 -o out/sst2
    python -m benchmarks.shrink out/sst2/model --task sst2 --data FOLDER --sizes 80,65,50 --seeds 3 --workers 16

Written into `-o`, where what is done is not done again: `table.md`, `rows.csv`, `methods.svg` and all models.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from benchmarks.shrink.timing import milliseconds
from benchmarks.shrink.ways import EIGHT, METHODS, RUNTIME, Row, Sizes, made, task_of

from headscope import load
from headscope.outputs.outputs import task_outputs
from headscope.outputs.size_and_speed import megabytes
from headscope.outputs.task_inputs import task_inputs
from headscope.studies.size.shrink.scores import of_task
from headscope.studies.size.shrink.texts import encode
from headscope.studies.training.finetune.layer_changes import over_seeds

ALONE = ("eight-bit", "layers", "vocabulary", "heads", "static")
BESIDE = ("both", "gates", "narrow", "fast", *ALONE)
WORDS = {
    "whole": "whole model",
    "both": "ours",
    "estimate": "ours",
    f"both, {EIGHT}": "ours, in eight bits",
    "narrow": "ours, with narrower embeddings",
    f"narrow, {EIGHT}": "ours, with narrower embeddings, in eight bits",
    "fast": "the same, and twice as fast",
    f"fast, {EIGHT}": "the same, in eight bits",
    "eight-bit": "",
    f"eight-bit, {EIGHT}": "eight bits alone",
    "layers": "half of the layers, distilled",
    "half of the layers": "half of the layers, distilled",
    "vocabulary": "vocabulary alone",
    "heads": "a quarter of the heads, untrained",
    "static": "static table of token vectors",
}
BATCHES = (1, 32)


def planned(targets: Sequence[float], seeds: int, beside: Sequence[str]) -> list[tuple[str, float, int]]:
    """All runs, way, megabytes and seed, seed by seed. Ours at the smallest size is in eight bits, too."""
    methods, last = [way for way in METHODS if way in beside or (way == "estimate" and "both" in beside)], targets[-1]
    runs = [(way, last) for way in beside if way not in METHODS]
    runs += [(way, target) for target in targets for way in methods]
    if "both" in beside:
        runs = [run for run in runs if run != ("estimate", last)]
    return [(*run, seed) for seed in range(seeds) for run in runs]


def all_rows(runs: Sequence[tuple[str, float, int]], sizes: Sizes, folder: Path, workers: int) -> list[Row]:
    """The rows of all runs, by so many processes; what fails is said and left out."""
    found: list[Row] = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(made, way, target, seed, sizes, folder / f"{way}-{target:g}-{seed}"): (way, target, seed)
            for way, target, seed in runs
        }
        for done in as_completed(waiting):
            way, target, seed = waiting[done]
            if error := done.exception():
                print(f"{way}, {target:g} MB, seed {seed}: {error}", file=sys.stderr, flush=True)
                continue
            found += done.result()
            last = done.result()[-1]
            print(f"{way}, {target:g} MB, seed {seed}: {last.score:.3f}, {last.seconds:.0f} s", flush=True)
    return found


def whole_row(sizes: Sizes) -> tuple[Row, str, list[int]]:
    """The whole model with the interval of its score over dev, the main metric, and the lengths of dev in tokens."""
    model = load(sizes.model, head=True, device=sizes.device)
    task = task_of(sizes, model, 0)
    scores = of_task(task, [task_outputs(task_inputs(model, task, task.dev))], task.targets(task.dev), 0, 1000)
    value, (lower, upper) = float(scores.values[0, 0]), scores.bounds[0, 0].tolist()
    lengths = [len(encoded) for encoded in encode(model, tuple(task.dev))]
    row = Row("whole", np.nan, 0, value, megabytes(model), sizes.model, lower=lower, upper=upper)
    return row, task.metrics[0], lengths


def table(unshrunk: Row, rows: Sequence[Row], metric: str, shapes: Sequence[tuple[int, int]], rounds: int) -> str:
    """The table in Markdown: a row a way, the scores of all seeds, bytes and milliseconds of the first."""
    by_way = {way: sorted(some, key=lambda row: row.seed) for way, some in _grouped(rows).items()}
    shown = [unshrunk, *(some[0] for some in by_way.values())]
    times = milliseconds(shown, shapes, rounds)
    titles = [f"ms, {batch} of {tokens} tokens" for batch, tokens in shapes]
    lines = [f"| | {metric} | seeds | MB | {' | '.join(titles)} |", f"| --- |{' ---: |' * (3 + len(shapes))}"]
    for row, of_shapes in zip(shown, times, strict=True):
        same = by_way.get(row.way, [unshrunk])
        cells = [WORDS.get(row.way, row.way), _score(same), str(len(same)), f"{row.megabytes:.1f}"]
        lines.append(f"| {' | '.join([*cells, *(f'{value:.1f}' for value in of_shapes)])} |")
    return "\n".join(lines)


def _score(rows: Sequence[Row]) -> str:
    """The mean score over seeds with its interval; of the whole model that over examples."""
    values = np.array([row.score for row in rows])
    low, high = over_seeds(values) if len(rows) > 1 else (rows[0].lower, rows[0].upper)
    return f"{values.mean():.3f}" if np.isnan(low) else f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def _grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    ways: dict[str, list[Row]] = {}
    for row in rows:
        if WORDS.get(row.way, row.way):
            ways.setdefault(row.way, []).append(row)
    order = [*WORDS, *METHODS]
    return dict(sorted(ways.items(), key=lambda item: order.index(item[0])))


def possible(beside: Sequence[str]) -> list[str]:
    """The ways for which the packages are there."""
    if RUNTIME:
        return list(beside)
    print("onnxruntime is not installed: nothing is in eight bits", file=sys.stderr)
    return [way for way in beside if way != "eight-bit"]


def main() -> None:
    """Run, and write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="folder of a model that was fine-tuned on the task")
    parser.add_argument("--task", required=True)
    parser.add_argument("--data", required=True, help="folder of its data")
    parser.add_argument("--sizes", default="65", help="megabytes in falling order; the last is that of the table")
    parser.add_argument("--beside", default=",".join(BESIDE), help=f"ways, separated by commas: {', '.join(BESIDE)}")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--examples", type=int, default=200, help="of train, drawn by the seed")
    parser.add_argument("--dev", type=int, default=200, help="examples of dev")
    parser.add_argument("--epochs", type=int, default=2, help="of training; gates have half of them")
    parser.add_argument("--groups", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5, help="of timing")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="where models are trained; all are timed on the processor")
    parser.add_argument("-o", "--out", type=Path, default=Path("out/shrink-ways"))
    given = parser.parse_args()
    own = ("model", "task", "data", "examples", "dev", "epochs", "groups", "device")
    sizes = Sizes(**{name: getattr(given, name) for name in own})
    targets = sorted(map(float, given.sizes.split(",")), reverse=True)
    given.out.mkdir(parents=True, exist_ok=True)
    unshrunk, metric, lengths = whole_row(sizes)
    rows = all_rows(planned(targets, given.seeds, possible(given.beside.split(","))), sizes, given.out, given.workers)
    with (given.out / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(unshrunk)))
        writer.writeheader()
        writer.writerows(map(asdict, [unshrunk, *rows]))
    shapes = [(batch, int(np.quantile(lengths, share))) for batch in BATCHES for share in (0.5, 0.95)]
    at_size = [row for row in rows if np.isnan(row.target) or row.target == targets[-1] or row.way not in METHODS]
    text = table(unshrunk, at_size, metric, shapes, given.rounds)
    (given.out / "table.md").write_text(text + "\n")
    print(text)
    if find_spec("altair") is not None and find_spec("vl_convert") is not None:
        import_module("benchmarks.shrink.figure").write([unshrunk, *rows], metric, given.out / "methods")
    else:
        print("no figure without altair and vl-convert; later: python -m benchmarks.shrink.figure", file=sys.stderr)


if __name__ == "__main__":
    main()

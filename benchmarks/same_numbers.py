"""Compare the saved numbers of every study between two source trees of headscope.

    python -m benchmarks.same_numbers run SRC DIR [MODEL]     # all studies, with the package in SRC; DIR/NAME/result.nc
    python -m benchmarks.same_numbers compare DIR OTHER       # each variable: equal, or the largest difference

The corpus is the bundled sample; the task is made of its sentences (does one have the word "the"?), and so are the
items of cloze (a sentence, and its words backwards). Nothing is drawn: the saved numbers alone are compared. A variable
that is in one tree only, or has other dimensions, counts as different.
Run it before and after a change that must not change numbers, with one thread (`OMP_NUM_THREADS=1`).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

import headscope

TASK = "--task article --data task"
# Name of the result, study and options; `{model}` is the model and `out/NAME` the result of an earlier line.
COMMANDS = {
    "profile": "profile {model} sample --limit 60",
    "patterns": "patterns {model} sample --limit 12 --shown 1",
    "syntax": "syntax {model} sample --limit 120",
    "contacts": "contacts {model} sample --limit 60 --apart 2",
    "relations": "relations {model} sample --limit 60",
    "relations-pairs": "relations {model} sample --limit 60 --links pairs --no-untrained --as-coded",
    "coreference": "coreference {model} sample",
    "coreference-windows": "coreference {model} sample --context windows --tokens 40 --no-singletons",
    "clusters": "clusters {model} sample --limit 12 --patterns patterns --syntax syntax",
    "clusters-coded": "clusters {model} sample --limit 6 --as-coded --clusters 3",
    "gradients": "gradients {model} sample --limit 12",
    "probe": "probe {model} sample --limit 24 --train sample --train-limit 48 --epochs 2 --seeds 1",
    "layers": "layers {model} sample --limit 48 --train sample --train-limit 96 --cases 400",
    "structure": "structure {model} sample --limit 24 --train sample --train-limit 48 --epochs 2 --rank 4,16",
    "trees": "trees {model} sample --limit 60",
    "geometry": "geometry {model} sample --limit 60",
    "attributions": "attributions {model} sample --limit 12 --scored 4 --flow 2",
    "pretrain": "pretrain sample --limit 48 --shape 1x2x16 --epochs 1 --tokenizer {model}",
    "pretrain-head": "pretrain-head {model} sample --limit 48 --epochs 1",
    "cloze": "cloze pretrain-head/model items.jsonl",
    "lens": "lens pretrain-head/model sample --predictions 200 --map-predictions 200",
    "finetune": f"finetune {{model}} {TASK} --epochs 2 --batch 8",
    "finetune-table": f"finetune {{model}} {TASK} --table --epochs 1 --batch 8",
    "film": f"film {{model}} finetune/model {TASK}",
    "landscape": f"landscape {{model}} --tuned finetune/model {TASK} --directions 3 --plane 3 --positions 5",
    "compare": f"compare {{model}} finetune/model {TASK} --restore 2",
    "gradients-task": f"gradients finetune/model {TASK}",
    "ablate": f"ablate finetune/model {TASK} --heads 1-1,2-*",
    "ablate-mean": f"ablate finetune/model {TASK} --mode mean --no-importance",
    "prune": f"prune finetune/model {TASK} --from ablate --share 0.5 --step 0.25",
    "prune-again": f"prune finetune/model {TASK} --again --share 0.25 --step 0.125",
    "shrink": "shrink {model} sample --size 60MB --best-effort --epochs 0 --groups 4",
    "shrink-task": f"shrink finetune/model {TASK} --method gates --size 80% --epochs 1 --groups 4",
}
# One process runs all commands; a command that fails is reported, and the next one runs.
RUNNER = """
import json, sys, time
import headscope.report
headscope.report.write = lambda result, directory, *_, **__: directory / "report.html"
from headscope.front.cli.app import application
for arguments in json.load(sys.stdin):
    start = time.perf_counter()
    try:
        ended = application(arguments)(arguments, standalone_mode=False) or "done"
    except Exception as error:
        ended = f"{type(error).__name__}: {error}"
    print(f"{time.perf_counter() - start:6.1f} s  {' '.join(arguments)}: {ended}", file=sys.stderr)
"""


def run(source: Path, directory: Path, model: str = "minilm") -> None:
    """Run all commands with the package in `source`, and save their results under `directory`."""
    texts = [example.first[0].text for example in headscope.read("sample")]
    write_task(directory / "task", texts)
    write_items(directory / "items.jsonl", texts[:40])
    commands = [[*line.format(model=model).split(), "-o", name] for name, line in COMMANDS.items()]
    environment = os.environ | {"PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    program, given = [sys.executable, "-c", RUNNER], json.dumps(commands).encode()
    with (directory / "log.txt").open("wb") as log:
        subprocess.run(program, cwd=directory, env=environment, input=given, stdout=log, check=True)


def write_task(directory: Path, texts: Sequence[str], train: int = 48, dev: int = 24) -> None:
    """Write `train.tsv` and `dev.tsv`: sentences, and whether they have the word "the"."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = [f"{text}\t{int('the' in text.lower().split())}" for text in texts]
    for split, lines in {"train": rows[:train], "dev": rows[train : train + dev]}.items():
        (directory / f"{split}.tsv").write_text("\n".join(["sentence\tlabel", *lines, ""]), encoding="utf-8")


def write_items(path: Path, texts: Sequence[str]) -> None:
    """Write minimal pairs: each sentence, and its words backwards."""
    pairs = [{"good": text, "bad": " ".join(reversed(text.split())), "phenomenon": "order"} for text in texts]
    path.write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs), encoding="utf-8")


def compare(one: Path, other: Path) -> int:
    """Print each result's differences; return the number of variables that differ."""
    differing = 0
    for name in COMMANDS:
        paths = [folder / name / "result.nc" for folder in (one, other)]
        if not all(path.is_file() for path in paths):
            lines, number = [f"no result in {' nor in '.join(str(path) for path in paths if not path.is_file())}"], 0
            differing += 1
        else:
            first, second = (xr.open_dataset(path, engine="h5netcdf").load() for path in paths)
            lines, number = list(differences(first, second)), len({*first.data_vars, *second.data_vars})
            differing += len(lines)
        print(f"{name}: {number - len(lines)} of {number} variables are equal", *lines, sep="\n    ")
    return differing


def differences(one: xr.Dataset, other: xr.Dataset) -> Iterator[str]:
    """A line for each variable that is not exactly equal in both results."""
    for name in {**one.data_vars, **other.data_vars}:
        if name == "train_seconds":
            continue
        if name not in one or name not in other:
            yield f"{name}: only in the {'second' if name not in one else 'first'}"
        elif (one[name].dims, one[name].shape) != (other[name].dims, other[name].shape):
            yield f"{name}: {dict(one[name].sizes)}, then {dict(other[name].sizes)}"
        elif not one[name].equals(other[name]):
            yield f"{name}: {_largest(one[name], other[name])}"


def _largest(one: xr.DataArray, other: xr.DataArray) -> str:
    if not (np.issubdtype(one.dtype, np.number) and np.issubdtype(other.dtype, np.number)):
        return f"{int((one.values != other.values).sum())} of {one.size} labels differ"
    absent = int((one.isnull().values != other.isnull().values).sum())
    largest = float(np.nanmax(np.abs(one.values - other.values), initial=0.0))
    return f"largest difference {largest:.3g}" + (f"; {absent} values are absent in one only" if absent else "")


if __name__ == "__main__":
    verb, *given = sys.argv[1:]
    if verb == "run":
        run(Path(given[0]), Path(given[1]), *given[2:])
    else:
        sys.exit(compare(Path(given[0]), Path(given[1])) > 0)

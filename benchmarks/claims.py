"""What pages claim of small models that know what is planted in them, and of models that know nothing.

The cases are those of `tests/support/claim_cases.py`: of each study a planted model, and noises (random weights, sharp
or uniform attention, shuffled links or labels, one example). A row is a study: in how many of the planted runs its
claim holds (wanted: 95%), and the claim that noise earns most often (wanted: at most 5%).

    PYTHONPATH=tests python -m benchmarks.claims [--seeds 40] [--study syntax ...]

With the names of noises it has a row for each of them; with `--medium`, how often an effect of a size that papers
report is found:

    PYTHONPATH=tests python -m benchmarks.claims --study trees probe --noise decoder albert bytes swapped shuffled
    PYTHONPATH=tests python -m benchmarks.claims --medium --seeds 20

With a treebank, models of the shape of BERT with the tokenizer of the built-in one read it instead:

    PYTHONPATH=tests python -m benchmarks.claims --treebank TREEBANK.conllu [--limit 150] [--seeds 40]
"""

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
import xarray as xr
from transformers import BertConfig, BertModel

import headscope
from headscope import Corpus, Settings, load
from headscope.corpora import Options
from support.claim_cases import CASES, MEDIUM, QUERIES, ClaimCase, claimed, is_found, run

OF_TREEBANK = ("profile", "gradients", "geometry", "clusters", "syntax", "trees")
Case = Callable[[int], xr.Dataset]


def of_treebank(study: str, corpus: Corpus, factor: float, seed: int) -> xr.Dataset:
    """The result of a model with random weights, whose queries and keys are multiplied by a factor."""
    tokenizer = load("minilm").tokenizer
    sizes: dict[str, Any] = {
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "hidden_size": 64,
        "intermediate_size": 128,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = BertModel(BertConfig(vocab_size=len(tokenizer), **sizes)).eval()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "query" in name or "key" in name:
                weight.mul_(factor)
    return getattr(headscope, study)(headscope.wrap(network, tokenizer), corpus, Settings(seed=seed, resamples=400))


def counted(cases: Iterable[Case], seeds: int) -> tuple[int, Counter[str], int]:
    """The number of runs, how often each claim holds (numbers left out), and how often any."""
    runs, held, any_held = 0, Counter[str](), 0
    for case in cases:
        for seed in range(seeds):
            verdicts = claimed(case(seed)).items()
            titles = {re.sub(r"[\d.]+", "N", topic) for topic, verdict in verdicts if verdict == "holds"}
            runs, any_held = runs + 1, any_held + bool(titles)
            held.update(titles)
    return runs, held, any_held


def found(study: str, case: ClaimCase, seeds: int) -> int:
    """In how many runs the claim of what is planted holds."""
    return sum(is_found(case, run(study, seed, case=case)) for seed in range(seeds))


def row(study: str, noises: Iterable[Case], seeds: int, planted: bool) -> str:
    """A row of the table."""
    known = "-"
    if planted:
        known = f"{found(study, CASES[study], seeds) / seeds:.0%}"
    runs, held, any_held = counted(noises, seeds)
    worst = max(held.items(), key=lambda share: share[1], default=("", 0))
    return f"| `{study}` | {seeds} | {known} | {runs} | {any_held / runs:.1%} | {worst[1] / runs:.1%} | {worst[0]} |"


def main() -> None:
    """Print a row a study as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--study", nargs="*")
    parser.add_argument("--noise", nargs="*")
    parser.add_argument("--medium", action="store_true")
    parser.add_argument("--treebank")
    parser.add_argument("--limit", type=int, default=150)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.medium:
        for effect, (study, case) in MEDIUM.items():
            print(f"| {effect} | `{study}` | {found(study, case, args.seeds)} of {args.seeds} |", flush=True)
        return
    print("| study | seeds | planted: holds | runs of noise | any claim | most frequent claim | which |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    if args.treebank:
        corpus = headscope.read(args.treebank, Options(limit=args.limit))
        for study in args.study or OF_TREEBANK:
            cases = [partial(of_treebank, study, corpus, factor) for factor in QUERIES.values()]
            print(row(study, cases, args.seeds, planted=False), flush=True)
        return
    for study in args.study or CASES:
        cases = {noise: partial(run, study, noise=noise) for noise in CASES[study].noises}
        for noise in args.noise or ():
            if noise in cases:
                print(f"{noise}: {row(study, [cases[noise]], args.seeds, planted=False)}", flush=True)
        if not args.noise:
            print(row(study, cases.values(), args.seeds, planted=True), flush=True)


if __name__ == "__main__":
    main()

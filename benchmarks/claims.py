"""What the first screens claim of models that know nothing: the share of runs in which a claim holds.

Small models of the shape of BERT are made with random weights, with the same weights and sharp attention (queries and
keys times 6), and with exactly uniform attention. Each study reads the same sentences with each of them; a row is the
share of the runs of a study in which any claim of its first screen or of its findings holds. Wanted: at most 5%.

    python -m benchmarks.claims TREEBANK.conllu [--seeds 40] [--limit 150] [--study syntax ...]
"""

import argparse
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import xarray as xr
from transformers import BertConfig, BertForMaskedLM

import headscope
from headscope import Model, load
from headscope.corpora import Options
from headscope.report.study_page import study_page

SHARPNESS = {"random": 1.0, "sharp": 6.0, "uniform": 0.0}
STUDIES = ("profile", "gradients", "geometry", "clusters", "syntax", "trees", "coreference", "patterns")
SIZES: dict[str, Any] = {"num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 64, "intermediate_size": 128}


def models(seed: int, folder: Path) -> Iterator[tuple[str, Model]]:
    """A model of each kind, with the tokenizer of the built-in one."""
    tokenizer = load("minilm").tokenizer
    for kind, factor in SHARPNESS.items():
        torch.manual_seed(seed)
        network = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **SIZES))
        with torch.no_grad():
            for name, weight in network.named_parameters():
                if "query" in name or "key" in name:
                    weight.mul_(factor)
        network.save_pretrained(folder / kind)
        tokenizer.save_pretrained(folder / kind)
        yield kind, load(str(folder / kind))


def claims(result: xr.Dataset) -> list[str]:
    """The titles of the claims of a page that hold."""
    page = study_page(result)
    return [finding.topic for finding in (*page.highlights(), *page.findings()) if finding.verdict == "holds"]


def main() -> None:
    """Print a row a study, and the claims that held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("treebank")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--study", nargs="*", default=STUDIES)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = headscope.read(args.treebank, Options(limit=args.limit))
    settings = headscope.Settings(resamples=400)
    runs, held, titles = Counter[str](), Counter[str](), Counter[str]()
    for seed in range(args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            for kind, model in models(seed, Path(folder)):
                for study in args.study:
                    found = claims(getattr(headscope, study)(model, corpus, settings))
                    runs[study] += 1
                    held[study] += bool(found)
                    titles.update(f"{study}, {kind}: {topic}" for topic in set(found))
    print("| study | runs | a claim holds |\n| --- | ---: | ---: |")
    for study in args.study:
        print(f"| `{study}` | {runs[study]} | {held[study] / runs[study]:.1%} |")
    print("\n".join(f"{count} times: {title}" for title, count in titles.most_common()))


if __name__ == "__main__":
    main()

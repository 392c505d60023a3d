"""Which claims of the papers hold of models with random weights: `python -m benchmarks.random_claims [OUT.json]`.

Twenty small BERTs, half of them with sharp attention (queries and keys times 12), read the sample with the studies that
need no training. A claim about language should hold of none, beyond one of forty by chance; the table says of how many.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
import xarray as xr
from transformers import BertConfig, BertModel

import headscope
from headscope.papers import judge, read_papers
from headscope.report.cards.model_results import MeasuredModel, Source

SHARP = 12.0
# Layers, heads, width.
SIZES = ((2, 2, 32), (4, 6, 48), (6, 4, 64), (4, 12, 96), (12, 12, 96))
SEEDS = 2
EXAMPLES = 60
STUDIES = (
    *("profile", "syntax", "coreference", "geometry", "relations", "trees", "patterns", "clusters"),
    "relations of pairs",
)


def network(size: tuple[int, int, int], seed: int, factor: float) -> BertModel:
    """A BERT with random weights for the vocabulary of the built-in model."""
    layers, heads, width = size
    torch.manual_seed(seed)
    made = BertModel(
        BertConfig(
            vocab_size=30522,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=2 * width,
        )
    ).eval()
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if "query" in name or "key" in name:
                weight.mul_(factor)
    return made


def models() -> Iterator[tuple[str, headscope.Model]]:
    """The models with their names."""
    tokenizer = headscope.load("minilm").tokenizer
    for size in SIZES:
        for seed in range(SEEDS):
            for factor in (1.0, SHARP):
                name = "{}x{}x{}".format(*size) + f" seed {seed}" + (", sharp" if factor > 1 else "")
                yield name, headscope.wrap(network(size, seed, factor), tokenizer, name)


def verdicts(name: str, model: headscope.Model) -> dict[str, str]:
    """The verdict on each claim that a study of the model decides."""
    corpus = headscope.read("sample", limit=EXAMPLES)
    results: list[xr.Dataset] = [
        getattr(headscope, study.split()[0])(model, corpus, **({"links": "pairs"} if "pairs" in study else {}))
        for study in STUDIES
    ]
    sources = tuple(Source(Path(study) / "result.nc", one) for study, one in zip(STUDIES, results, strict=True))
    judged = judge(MeasuredModel((name,), name, sources), read_papers())
    return {one.claim.id: one.verdict for one in judged if one.verdict != "not measured"}


def main(out: str = "") -> None:
    """Print a row for each claim: of how many models it holds, fails, and is undecided."""
    found: dict[str, dict[str, str]] = {}
    for name, model in models():
        found[name] = verdicts(name, model)
        print(name, Counter(found[name].values()), file=sys.stderr, flush=True)
        if out:
            Path(out).write_text(json.dumps(found, indent=1), encoding="utf-8")
    claims = dict.fromkeys(claim for one in found.values() for claim in one)
    print("| claim | holds | of sharp ones | fails | undecided | |", "| --- | --- | --- | --- | --- | --- |", sep="\n")
    words = {claim.id: claim.claim for paper in read_papers() for claim in paper.claims}
    for claim in claims:
        counts = Counter(one.get(claim) for one in found.values())
        sharp = sum(one.get(claim) == "holds" for name, one in found.items() if "sharp" in name)
        print(f"| {claim} | {counts['holds']} | {sharp} | {counts['fails']} | {counts['undecided']} | {words[claim]} |")


if __name__ == "__main__":
    main(*sys.argv[1:])

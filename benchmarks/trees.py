"""Time and memory of the trees of attention beside a plain forward pass and a loop over heads and sentences.

Compares, in turns within one run, on the same sentences of a treebank:
(a) plain: the forward pass (sdpa), no analysis;
(b) trees: the pass of the study: all heads and averages, both directions, special tokens kept and left out, the gold
    root and the best one: eight directed trees of each unit and sentence, and undirected ones;
(c) loop: all maps kept, then attention between words head by head in numpy, then the maximum spanning arborescence of
    networkx for each head and sentence: of one direction, words alone, from the gold root: one tree of the eight.
The words that get their head are counted by (b) and (c); both put equal edges in the same order, as two trees often
have one sum. Time is that of the processor (one thread), ratios are medians over rounds; memory is the peak of the
process after (b), then after (c).

    python -m benchmarks.trees TREEBANK.conllu [--limit 200] [--rounds 3]
"""

import argparse
from collections import Counter
from statistics import median
from typing import Any

import networkx as nx
import numpy as np
import torch
from benchmarks.memory import highest
from benchmarks.passes import plain_passes, timed

from headscope import Model, load, read
from headscope.corpora import Corpus, Options
from headscope.encoding.batch import Batch
from headscope.encoding.encoder import Words
from headscope.encoding.parsed_sentences import ROOT, Parsed, sentences_of
from headscope.passes import Settings
from headscope.passes.batches import by_length, collator
from headscope.studies.heads.trees.parses import in_order, scored, tie_order
from headscope.studies.heads.trees.scores import TreeRows
from headscope.studies.heads.trees.study import first_pass

SEED, SPECIAL = 0, 2  # of the order of equal edges, and the special tokens of an input


def streamed(model: Model, corpus: Corpus, settings: Settings) -> TreeRows:
    """The counts of the study."""
    return TreeRows.in_order(first_pass(model, corpus, settings, bias=0.0).read().value)


def loop(model: Model, batches: list[Batch]) -> np.ndarray:
    """Words that get their head, by head, summed over sentences."""
    maps = []
    model.network.set_attn_implementation("eager")
    with torch.inference_mode():
        for batch in batches:
            maps.append(torch.cat(model.network(**batch.inputs, output_attentions=True).attentions, dim=1).numpy())
    right: Any = 0
    for batch, attention in zip(batches, maps, strict=True):
        members = batch.sum_of_pieces.numpy()  # [example, token, word]
        for row, sentence in sentences_of(batch, Counter()):
            if len(sentence) > 1:
                member, order = members[row][:, sentence.words], tie_order(SEED, sentence, len(sentence) + SPECIAL)
                order = order[SPECIAL:, SPECIAL:]
                right = right + np.array([of_head(head, member, sentence, order) for head in attention[row]])
    return right


def of_head(attention: np.ndarray, member: np.ndarray, sentence: Parsed, order: np.ndarray) -> int:
    """Words of a sentence that get their head in the tree of one head from the gold root."""
    words = (member / member.sum(0)).T @ attention @ member  # [word, word]
    words = in_order(words / words.sum(1, keepdims=True), order)
    root = next(iter(np.flatnonzero(sentence.heads == ROOT)), None)
    graph = nx.DiGraph()
    pairs = [(head, word) for word in range(len(words)) for head in range(len(words)) if word not in (head, root)]
    graph.add_weighted_edges_from((head, word, words[word, head]) for head, word in pairs)
    tree = nx.maximum_spanning_arborescence(graph)
    return sum(tree.has_edge(int(sentence.heads[word]) - 1, int(word)) for word in scored(sentence))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, settings = load("minilm"), Settings()
    corpus = read(given.treebank, Options(limit=given.limit))
    inputs = list(Words(model.tokenizer, model.max_tokens, aligned=True).encode(corpus))
    batches = [collator(model)(group) for group in by_length(inputs, settings.batch_tokens)]

    rows = []
    for _ in range(given.rounds):
        one, _ = timed(lambda: plain_passes(model, batches))
        study, counted = timed(lambda: streamed(model, corpus, settings))
        peak = highest()
        naive, right = timed(lambda: loop(model, batches))
        rows.append((one, study, naive))
        own = counted.uas[:, : len(right), 0, 1, 0].sum(0, dtype=np.int64)
        print(f"plain {one:.2f} s, trees {study:.2f}, loop {naive:.2f}; peak {peak:.0f} and {highest():.0f} MiB; "
              f"words right differ by {abs(own - right).max()} of {counted.words.sum()}", flush=True)  # fmt: skip
    print(f"trees / plain: {median(study / one for one, study, _ in rows):.2f}")
    print(f"loop / trees: {median(naive / study for _, study, naive in rows):.1f} (one of eight trees)")


if __name__ == "__main__":
    main()

"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from functools import partial
from typing import Annotated

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.random_weights import SEEDS, untrained
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.ranges import Range
from headscope.statistics.split_half import split_of
from headscope.studies.heads.trees.observer import TreeObserver, means_of
from headscope.studies.heads.trees.scores import TreeRows
from headscope.studies.heads.trees.variables import TreeVariables


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    random: bool = True,
    bias: Annotated[float, Range(0, 1000)] = 0.0,
) -> xr.Dataset:
    """`uas` and `uuas[layer, head, direction, special_tokens, root]` of trees that are made of attention alone.

    The attention between words of each head is a graph; its maximum spanning tree is the head's parse. The dependent
    looks at its head, or the head at its dependent (`direction`).

    * `root`: the tree starts at the gold root, or at the root whose tree is best; `undirected` is the best tree of the
      attention in both directions, added, and has no `uas`.
    * `special_tokens`: `kept`, [CLS] and [SEP] are nodes too, and a word on one of them has a wrong head; `left_out`,
      words alone, attention divided by what is left of each row.
    * Roots and punctuation are nodes, and not scored, whatever the root: scores with and without it compare.
    * Of equal trees a random one is taken (seeded): a head that looks at all words equally has the score of chance.

    For a corpus with phrases, `f1[layer, head, distance, special_tokens]`: a sentence is split where the attention of
    neighbouring words is furthest apart. Distances of heads are averaged for `layer_f1` and `model_f1`. Differences
    from the released code of Kim et al.: the model reads special tokens and punctuation, which phrases leave out;
    sentences whose phrases are only single words and the whole are left out.

    Arguments:

    * `random`: Also parse with the attention of random weights, of three seeds.
    * `bias`: Bias of phrases to the right; the paper uses 0 and 1.5.

    Raises `HeadscopeError` if the corpus has no dependency trees, or no example that fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=4)), random=False)
    >>> result["uas"].dims
    ('layer', 'head', 'direction', 'special_tokens', 'root')
    """
    settings.on_total(corpus.n_examples * (1 + SEEDS * random))
    attributes = provenance("trees", model, corpus, settings)
    parsed = first_pass(model, corpus, settings, bias=bias).read()
    rows, random_rows = TreeRows.in_order(parsed.value), dict[int, TreeRows]()
    _refuse_without_words(corpus, rows)
    if "interrupted" not in parsed.attributes:
        uninterrupted = replace(settings, keep_interrupted=False)
        for seed in random_seeds(settings, random=random):
            # No name holds a model of random weights while the next is made.
            result = random_pass(untrained(model, seed), corpus, uninterrupted, bias=bias).read()
            random_rows[seed] = TreeRows.in_order(result.value)
    split = split_of(rows.input, rows.unit, settings.seed, settings.resamples)
    variables = TreeVariables(rows, random_rows, model.capture.heads, split).arrays()
    options = json.dumps({"random": random, "bias": bias})
    attributes |= {"n_words": int(rows.words.sum()), "n_sentences": len(rows), "options": options}
    return results.check(xr.Dataset(variables, attrs=attributes | parsed.attributes))


def random_seeds(settings: Settings, *, random: bool) -> range:
    """The seeds of the models of random weights that are read after the first pass, in the same way."""
    return range(settings.seed, settings.seed + SEEDS * random)


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, bias: float, means: bool = True
) -> PlannedPass[list[TreeRows]]:
    """What other studies may read together with this one; without `means` it parses single heads alone."""
    require_trees(corpus, "CoNLL-U, .mrg")
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    units = means_of(model.capture.heads)[: None if means else sum(model.capture.heads)]
    observer = TreeObserver(units, bias=bias, seed=settings.seed, counts=words.counts)
    return Pass(model, corpus, settings, words).gather(observer)


random_pass = partial(first_pass, means=False)


def _refuse_without_words(corpus: Corpus, rows: TreeRows) -> None:
    if not len(rows):
        raise HeadscopeError(f"corpus '{corpus.name}' has no sentence of two words; name a larger treebank")

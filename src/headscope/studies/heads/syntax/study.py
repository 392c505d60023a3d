"""Run the study: from its options to a labelled result."""

import json
from typing import Any

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.encoding.encoder import Words
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.results.variables import no_op_variables
from headscope.statistics.split_half import split_of
from headscope.studies.heads.syntax.observer import DependencyObserver
from headscope.studies.heads.syntax.scores import best, joined, no_op, score
from headscope.studies.heads.syntax.variables import split_words, to_variables


def run(
    model: Model, corpus: Corpus, settings: Settings = DEFAULTS, *, subtypes: bool = False, as_coded: bool = False
) -> xr.Dataset:
    """`accuracy[layer, head, relation, direction]` over all words, beside it the best fixed word of each relation.

    A word that is one of k with the same attention counts 1/k, as do words that share all of their tokens. Relation
    "all" is without punctuation and roots.

    `as_coded` does as the released notebook: attention from a word is that of its first token (the paper says the
    mean), of equal words the first is taken; "all" has punctuation and roots, which no head can find; the baseline are
    the offsets -3 to 2, which stop at the sentence's ends; heads and offsets are chosen on what they are scored on. Its
    special case for `poss` is left out.

    Arguments:

    * `model`: Model to measure.
    * `corpus`: Examples to read.
    * `settings`: Seed, batch size, number of resamples, and progress.
    * `subtypes`: Keep the subtypes of relations, as nsubj:pass.
    * `as_coded`: Choose heads and score them on the same sentences, as the released code does.

    Raises `HeadscopeError` if the corpus has no dependency trees, or no example fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=8)))
    >>> result["accuracy"].dims, int(result["baseline_offset"].sel(relation="det"))
    (('layer', 'head', 'relation', 'direction'), 1)
    """
    attributes = provenance("syntax", model, corpus, settings)
    result = first_pass(model, corpus, settings, subtypes=subtypes, as_coded=as_coded).read()
    predictions = joined(result.value)
    split = split_of(predictions.input, predictions.unit, settings.seed, settings.resamples)
    relations = predictions.by_relation(everything=as_coded)
    chosen = {name: best(words, split.draws, split.selection_half, as_coded) for name, words in relations.items()}
    variables = to_variables(
        {name: score(words, split.draws, split.selection_half, as_coded) for name, words in relations.items()},
        chosen,
        model.capture.heads,
    )
    variables |= split_words(predictions, split.draws)
    variables |= no_op_variables("relation", no_op(predictions, chosen, split), list(relations))
    attributes |= {"n_words": len(predictions), "options": json.dumps({"subtypes": subtypes, "as_coded": as_coded})}
    return results.check(xr.Dataset(variables, attrs=attributes | result.attributes))


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, subtypes: bool, as_coded: bool
) -> PlannedPass[list[Any]]:
    """What other studies may read together with this one."""
    require_trees(corpus)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    observer = DependencyObserver(subtypes=subtypes, as_coded=as_coded, counts=words.counts)
    return Pass(model, corpus, settings, words).gather(observer)

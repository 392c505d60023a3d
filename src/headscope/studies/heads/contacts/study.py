"""Run the study: from its options to a labelled result."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import part
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.random_weights import untrained
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.ranges import Range
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws, tally_by_input
from headscope.studies.heads.contacts import STUDY
from headscope.studies.heads.contacts.observer import PairObserver, PairRows
from headscope.studies.heads.contacts.pairs import Contacts, read_contacts
from headscope.studies.heads.contacts.scores import TOPS, best_head, by_sequence, distance, held_out, regression

MOST_PAIRS = 1_000_000
GAINS = {
    "regression_over_distance": ("regression", "by_distance"),
    "regression_over_random": ("regression", "regression_random"),
    "chosen_over_distance": ("chosen_precision", "by_distance"),
}
WITHOUT = "sequences without a contact"


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    contacts: Path | None = None,
    apart: Annotated[int, Range(1, 10_000)] = 6,
) -> xr.Dataset:
    """`precision[layer, head, top]`: how many of the pairs that a head scores highest are contacts.

    Beside it the precision of a logistic regression over all heads, of the head that is best in other sequences, of the
    distance alone, and of a regression over heads of random weights; all are held out by sequence, in five folds.

    Arguments:

    * `corpus`: Sequences, as FASTA.
    * `contacts`: Pairs that touch: a .tsv or .csv with the name of a sequence and the numbers of two residues, from 1;
      or a folder with a matrix of 0 and 1 for each (NAME.npy, NAME.tsv, NAME.csv). By default the links of the corpus,
      or its dependency trees.
    * `apart`: Read pairs that are at least N residues apart.

    Raises `HeadscopeError` if no sequence has a contact, or there are too many pairs.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=12)), apart=2)
    >>> result["precision"].dims, result["top"].values.tolist()
    (('layer', 'head', 'top'), ['L/5', 'L/2', 'L'])
    """
    source = read_contacts(contacts, corpus)
    touching, left_out = _with_contacts(corpus, source, apart)
    settings.on_total(2 * touching.n_examples)
    words = Words(model.tokenizer, model.max_tokens, settings.long, Counter(left_out), aligned=True)
    observer = PairObserver(source, apart)
    result = Pass(model, touching, settings, words).gather(observer).read()
    rows = PairRows.in_order(result.value)
    variables = _variables(rows, model.capture.heads, settings)
    again = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    random = Pass(untrained(model, settings.seed), touching, settings, again).gather(observer).read()
    _add_regressions(variables, rows, PairRows.in_order(random.value), settings)
    attributes = provenance("contacts", model, corpus, settings) | result.attributes
    variables.arrays.update(result.coverage.variables())
    return results.check(xr.Dataset(variables.arrays, attrs=attributes | {"apart": str(apart)}))


def _with_contacts(corpus: Corpus, source: Contacts, apart: int) -> tuple[Corpus, dict[str, int]]:
    """The sequences that have a contact at the distance or beyond, and how many have none."""
    far = [bool((np.diff(source.of(example), axis=1) >= apart).any()) for example in corpus]
    pairs = sum(max(0, example.n_words - apart) ** 2 // 2 for example, kept in zip(corpus, far, strict=True) if kept)
    if not any(far):
        named = f"'{source.source}'" if source.source else "links or trees"
        raise HeadscopeError(
            f"corpus '{corpus.name}' has no contact {apart} or more apart in {named}; name pairs with --contacts, by "
            f"the names of the sequences, such as '{next(iter(corpus)).document[:40]}', or lower --apart"
        )
    if pairs > MOST_PAIRS:
        raise HeadscopeError(
            f"corpus '{corpus.name}' has {pairs:,} pairs, at most {MOST_PAIRS:,} are kept; read fewer with --limit"
        )
    without = len(far) - sum(far)
    return part(corpus, np.flatnonzero(far)), {WITHOUT: without} if without else {}


def _variables(rows: PairRows, heads: tuple[int, ...], settings: Settings) -> Variables:
    """The precision of each head, and chance."""
    variables = Variables({"top": list(TOPS)}, STUDY.source, STUDY.labels)
    values = by_sequence(rows, rows.scores)
    variables.add_tally("precision", tally_by_input(values, np.arange(len(values)), _draws(rows, settings)), heads)
    variables.add("contact_share", float(rows.contact.mean()))
    return variables


def _draws(rows: PairRows, settings: Settings) -> np.ndarray:
    _, first = np.unique(rows.input, return_index=True)
    return poisson_draws(rows.unit[first].tolist(), settings.seed, settings.resamples)


def _add_regressions(variables: Variables, rows: PairRows, random: PairRows, settings: Settings) -> None:
    """Add what is held out, and differences; NaN for a single sequence."""
    names = {"regression": regression, "chosen_precision": best_head, "by_distance": distance}
    scores = {name: held_out(rows, fit, settings.seed) for name, fit in names.items()}
    scores["regression_random"] = held_out(random, regression, settings.seed)
    nothing = np.full((len(np.unique(rows.input)), len(TOPS)), np.nan)
    values = {
        name: nothing if column is None else by_sequence(rows, column[:, None])[:, 0] for name, column in scores.items()
    }
    values |= {name: values[score] - values[baseline] for name, (score, baseline) in GAINS.items()}
    draws = _draws(rows, settings)
    for name, precisions in values.items():
        tally = tally_by_input(precisions[:, None], np.arange(len(precisions)), draws)
        count = Count(int(tally.count[0]), "sequences", "sequences") if name == "regression" else None
        variables.add(name, tally.mean[0], interval=tally.interval[0], count=count)

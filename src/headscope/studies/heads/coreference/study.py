"""Run the study: from its options to a labelled result."""

import json
from functools import partial
from typing import Annotated, Literal

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.tokenizer import piece_counts
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import Documents
from headscope.ranges import Range
from headscope.results.variables import no_op_variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.split_half import split_in_half
from headscope.studies.heads.coreference import variables
from headscope.studies.heads.coreference.observer import MentionObserver
from headscope.studies.heads.coreference.question_scores import f1, pairs, pronoun_counts
from headscope.studies.heads.coreference.scores import AntecedentPredictions, Draws, best, no_op, score
from headscope.studies.heads.coreference.segments import Context, Plan, plan


def run(
    model: Model,
    corpus: Documents,
    settings: Settings = DEFAULTS,
    *,
    tokens: Annotated[int, Range(1, 1_000_000)] = 128,
    context: Literal["segments", "first", "windows"] = "segments",
    singletons: bool = True,
) -> xr.Dataset:
    """`accuracy[layer, head, mention_type]`: mentions whose head word attends most to that of one of its antecedents.

    Asked are the mentions that have an antecedent, an earlier mention of the same entity; the candidates are the
    mentions whose head words stand before theirs. Of a corpus that asks itself (GAP, WinoBias, Winogender, and the
    verbs and reflexives of Lin et al. 2019), asked are its pronouns, and the candidates are those that it names, on
    both sides. Head words are found by the trees; where there are none, they are the last words.

    Intervals are over documents, passages, or pairs of sentences.

    Arguments:

    * `tokens`: Largest number of tokens of a segment of a document, special tokens included.
    * `context`: Inputs made of a document: consecutive segments, the first segment only, or overlapping windows.
    * `singletons`: Keep entities with one mention as candidates; CoNLL-2012 has none.

    Raises `HeadscopeError` if the corpus has no coreference, or if no mention has an antecedent in its segment.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=8)))
    >>> result["accuracy"].dims, result["baseline"].values.tolist()
    (('layer', 'head', 'mention_type'), ['nearest', 'head_match', 'rules', 'random'])
    """
    planned = _plan(model, corpus, tokens, context, singletons)
    settings.on_total(planned.inputs.n_examples)
    most = model.max_tokens if planned.questions else min(tokens, model.max_tokens)
    words = Words(model.tokenizer, most, settings.long, aligned=True)
    attributes = provenance("coreference", model, corpus, settings)
    observer = MentionObserver(
        planned.cases, toward=planned.stereotypes, confused=planned.questions, counts=words.counts
    )
    result = Pass(model, planned.inputs, settings, words).gather(observer).read()
    predictions = AntecedentPredictions.in_order(result.value)
    if not predictions.answerable.any():
        raise HeadscopeError(
            f"corpus '{corpus.name}': no mention and its antecedent have tokens in the same input; use longer segments "
            "(--tokens), or shorter texts"
        )
    options = {} if planned.questions else {"tokens": tokens, "context": context, "singletons": singletons}
    attributes |= {"n_mentions": len(predictions), "options": json.dumps(options)} | result.attributes
    return results.check(xr.Dataset(_variables(predictions, model, settings), attrs=attributes))


def _plan(model: Model, corpus: Corpus, tokens: int, context: Context, singletons: bool) -> Plan:
    room = min(tokens, model.max_tokens) - model.tokenizer.num_special_tokens_to_add()
    if room < 1:
        raise HeadscopeError(f"segments of {tokens} tokens hold no word besides the special tokens; use more --tokens")
    return plan(corpus, partial(piece_counts, model.tokenizer), room, context, singletons)


def _variables(predictions: AntecedentPredictions, model: Model, settings: Settings) -> dict[str, xr.DataArray]:
    heads, units = model.capture.heads, int(predictions.unit.max()) + 1
    draws = poisson_draws(range(units), settings.seed, settings.resamples).astype(np.uint8)
    selection_half, kinds = split_in_half(units, settings.seed), predictions.by_kind()
    scores = {kind: score(cases, sum(heads), draws) for kind, cases in kinds.items()}
    chosen = {kind: best(cases, sum(heads), draws, selection_half) for kind, cases in kinds.items()}
    arrays = variables.score_variables(scores, heads) | variables.best_variables(chosen, heads)
    arrays |= no_op_variables(variables.KIND, no_op(kinds, chosen, draws, selection_half), list(chosen))
    if predictions.question.all():
        arrays |= variables.confusion_variables(predictions, draws, heads)
    head = chosen["all"].selected.head if chosen["all"] else None
    if predictions.stereotype.any():
        return arrays | _stereotypes(predictions, draws, selection_half, heads, head)
    if not predictions.question.all() or predictions.condition.any():
        return arrays
    return arrays | _genders(predictions, draws, selection_half, heads, head)


def _genders(
    predictions: AntecedentPredictions,
    draws: Draws,
    selection_half: np.ndarray,
    heads: tuple[int, ...],
    head: int | None,
) -> dict[str, xr.DataArray]:
    """F1 by gender: of all heads and of the baselines; of the chosen head and of the baselines on the other half."""
    right, rest = predictions.unpacked(sum(heads)).astype(float), ~selection_half[predictions.unit]
    by_head = f1(right, predictions, draws)
    base = f1(predictions.guesses, predictions, draws)
    arrays = variables.gender_variables(by_head, base, pronoun_counts(predictions), heads)
    if head is None:
        return arrays
    held_out = f1(right[rest][:, [head]], predictions[rest], draws)
    beside = f1(predictions.guesses[rest], predictions[rest], draws)
    return arrays | variables.best_gender_variables(held_out, beside, pronoun_counts(predictions[rest]))


def _stereotypes(
    predictions: AntecedentPredictions,
    draws: Draws,
    selection_half: np.ndarray,
    heads: tuple[int, ...],
    head: int | None,
) -> dict[str, xr.DataArray]:
    """Effects of stereotypes: on all heads, and on the chosen head on the other half."""
    both = pairs(predictions, sum(heads))
    if not len(both):
        return {}
    arrays = variables.stereotype_variables(both, draws, heads)
    rest = both[~selection_half[both.pro.unit]]
    if head is None or not len(rest):
        return arrays
    return arrays | variables.best_gap_variables(rest.tallied(rest.preferred, draws)[1], head)

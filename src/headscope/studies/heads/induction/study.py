"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import Annotated, Any

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.config import windows_of
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import WordsModel
from headscope.ranges import Range
from headscope.studies.heads.induction import scores, variables
from headscope.studies.heads.induction.causal_effect import causal_effect, forward_passes
from headscope.studies.heads.induction.copying import copying_of
from headscope.studies.heads.induction.made_inputs import COMPLETE, Maker, maker, text_lengths
from headscope.studies.heads.induction.observer import HeadAttention, Reach
from headscope.studies.heads.induction.reading import farthest_seen, gathered, reach_of, read_made, without_words_head
from headscope.studies.heads.induction.relations import CONTROLS, DEPTHS, RELATIONS, RepeatWords
from headscope.studies.heads.induction.scores import layers_of
from headscope.studies.heads.induction.value_norms import value_norms

# Relations of a corpus: those of repetitions, and what they are compared with.
OF_CORPUS = len(RELATIONS) + len(CONTROLS)


def run(  # noqa: PLR0913 (each is an option of the command)
    model: WordsModel,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    sequences: Annotated[int, Range(2, 10_000)] = 50,
    copy: Annotated[int, Range(3, 100_000)] = 25,
    repeats: Annotated[int, Range(2, 1000)] = 2,
    contexts: str = "",
    texts: Annotated[int, Range(2, 10_000)] = 20,
    tokens: Annotated[int, Range(2, 10_000)] = 1000,
    full: bool = False,
) -> xr.Dataset:
    """`attention[layer, head, relation]`, `control` and `gain`: attention to earlier copies in repeated random tokens.

    It is to the token after an earlier copy of the same token (induction), to that copy (duplicate), and to the token
    before (previous). Only copies before a token count, in encoders too. The control is attention to the same places in
    sequences without a repetition, so that a head that always looks at one distance gains nothing. The study also looks
    for repetitions of the corpus, pairs planted in long texts, sinks, heads that copy, and how far heads look. For a
    model that predicts the next word, `copy_loss_rise` is what the loss of the second copy gains without a head.

    The best head of each relation is chosen on one half of the sequences, and `chosen_...` are its scores on the other.

    Arguments:

    * `model`: Model to measure; with output embeddings, copying is measured too.
    * `sequences`: Number of repeated sequences of random tokens.
    * `copy`: Largest number of tokens in one copy; fewer if copies do not fit into the model.
    * `repeats`: How often each sequence is repeated in an input.
    * `contexts`: Lengths of the texts with a planted pair, as 128,512; by default a quarter and all of what the model
      reads, up to 128.
    * `texts`: Number of such texts of each length.
    * `tokens`: Number of tokens of the vocabulary for which copying is tried.
    * `full`: Texts with a planted pair of up to 512 tokens where no lengths are named.

    Raises `HeadscopeError` if repeated sequences do not fit into the model, or no example does.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=4)), sequences=2, copy=4, contexts="8", texts=2)
    >>> result["attention"].dims, result["chosen_head"].dims
    (('layer', 'head', 'relation'), ('relation',))
    """
    attributes = provenance("induction", model, corpus, settings)
    heads, bare, made = model.capture.heads, without_words_head(model), maker(model, settings.seed)
    length, lengths = made.copy_length(copy, repeats), text_lengths(contexts, made.room, settings.on_notice, full=full)
    planted = (1 + len(DEPTHS)) * texts * len(lengths)
    settings.on_total(corpus.n_examples + 2 * sequences + planted + forward_passes(model, sequences))
    windows = windows_of(model.network.config, len(heads))
    made_of = [*lengths, length * repeats, 0 if contexts else COMPLETE]
    longest = min(made.room, max([*made_of, *(windows[windows < made.room] + 2).astype(int)]))
    farthest = farthest_seen(bare, made.unplanted(1, longest, 0)[0])
    possible = longest + len(made.before) + len(made.after)
    reach = reach_of(farthest, possible)
    arrays = of_repeats(bare, made, reach, settings, (sequences, length, repeats))
    arrays |= of_planted(bare, made, reach, settings, texts, lengths)
    repeated = made.repeated(sequences, length, repeats)
    quiet = replace(settings.quiet, keep_interrupted=False)
    effect = or_reason(causal_effect, model, repeated, len(made.before), length, settings)
    parts = {
        "copying": (or_reason(copying_of, model, made.some(tokens)), variables.of_copying),
        "causal effect": (effect, lambda effect, heads: effect),
        "value norms": (or_reason(value_norms, bare, corpus, quiet), variables.of_norms),
    }
    left_out = {name: outcome for name, (outcome, _) in parts.items() if isinstance(outcome, str)}
    for outcome, variables_of in parts.values():
        arrays |= {} if isinstance(outcome, str) else variables_of(outcome, heads)
    words = RepeatWords(model.tokenizer, model.max_tokens, settings.long, seed=settings.seed)
    result = gathered(Pass(bare, corpus, settings, words), OF_CORPUS, reach)
    read = HeadAttention.in_order(result.value)
    natural = scores.score(scores.of_corpus(read, layers_of(model)), settings.seed, settings.resamples)
    arrays |= variables.of_relations("natural_", natural, heads) | variables.of_corpus(read, heads, settings)
    arrays |= variables.of_windows(farthest, windows, possible) | result.coverage.variables()
    options = {"sequences": sequences, "copy": length, "repeats": repeats, "contexts": lengths, "texts": texts}
    attributes |= {"options": json.dumps(options | {"tokens": tokens}), "left_out": json.dumps(left_out)}
    return results.check(xr.Dataset(arrays, attrs=attributes | result.attributes))


def or_reason(measure: Callable[..., Any], *arguments: Any) -> Any:
    """The numbers of a part of the study, or the reason why this model has none: the other parts still run."""
    try:
        return measure(*arguments)
    except (HeadscopeError, RuntimeError) as error:
        return shorten(f"it cannot be measured in this model: {error}", 240)


def of_repeats(
    model: Model, made: Maker, reach: Reach, settings: Settings, shape: tuple[int, int, int]
) -> variables.Arrays:
    """Repeated sequences of random tokens, beside those without a repetition.

    * `shape`: how many, of which length, how often.
    """
    repeated, fresh = (
        read_made(model, name, inputs, len(RELATIONS), reach, settings)
        for name, inputs in (("repeated tokens", made.repeated(*shape)), ("fresh tokens", made.fresh(*shape)))
    )
    trials = scores.of_repeats(repeated, fresh, layers_of(model))
    drawn, heads = (settings.seed, settings.resamples), model.capture.heads
    arrays = variables.of_relations("", scores.score(trials, *drawn), heads) | variables.of_uniform(repeated, fresh)
    return arrays | variables.of_best(scores.best_heads(trials, *drawn), heads)


def of_planted(
    model: Model, made: Maker, reach: Reach, settings: Settings, texts: int, lengths: Sequence[int]
) -> variables.Arrays:
    """Planted pairs in texts of each length."""
    found, best, drawn = [], [], (settings.seed, settings.resamples)
    for context in lengths:
        planted, unplanted = (
            read_made(model, name, inputs(texts, context, 0), len(DEPTHS), reach, settings)
            for name, inputs in (("planted pairs", made.planted), ("texts without them", made.unplanted))
        )
        trials = scores.of_pairs(planted, unplanted)
        found.append(scores.score(trials, *drawn))
        best.append(scores.best_over_depths(trials, *drawn))
    return variables.of_pairs(found, best, lengths, model.capture.heads)

"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.encoding.encoder import Words
from headscope.linguistics.dependencies import FixedWord
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.results.variables import Count, Variables, add_held_out, add_place, by_layer, no_op_variables
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.bootstrap import tally_by_input
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, split_of
from headscope.studies.heads.syntax import STUDY
from headscope.studies.heads.syntax.observer import DependencyObserver
from headscope.studies.heads.syntax.scores import HELD_OUT, Draws, HeadPredictions, RelationScore, best, no_op, score


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
    predictions = HeadPredictions.in_order(result.value)
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


def to_variables(
    scores: Mapping[str, RelationScore], best: Mapping[str, BestHead | None], heads: tuple[int, ...]
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    variables = Variables({"relation": list(scores), "direction": DIRECTIONS}, STUDY.source, STUDY.labels)
    _add_heads(variables, list(scores.values()), heads)
    _add_baselines(variables, list(scores.values()))
    _add_best(variables, list(best.values()), heads)
    return variables.arrays


def split_words(words: HeadPredictions, draws: Draws) -> dict[str, xr.DataArray]:
    """The share of words that have several tokens (Clark et al. 2019, section 4.1), with its interval."""
    split = tally_by_input((words.tokens > 1)[:, None], words.input, draws)
    variables = Variables({}, STUDY.source, STUDY.labels)
    count = Count(int(split.count), "words", "words")
    variables.add("split_words", split.mean[0], interval=split.share_interval[0], count=count)
    return variables.arrays


def _add_heads(variables: Variables, scores: list[RelationScore], heads: tuple[int, ...]) -> None:
    def placed(values: list[np.ndarray]) -> np.ndarray:
        return by_layer(np.stack(values, axis=1), heads)  # [layer, head, relation, ...]

    words = np.array([int(score.baseline.count) for score in scores])
    accuracy = placed([score.accuracy.mean for score in scores])
    interval = placed([score.accuracy.share_interval for score in scores])
    count = Count(words, "words of each relation", "words", ("relation",))
    variables.add("accuracy", accuracy, interval=interval, count=count)
    q = benjamini_hochberg(np.where(words[:, None] > 0, placed([score.p for score in scores]), np.nan))
    variables.add("q_value", q)
    gain = placed([score.held_out_gain for score in scores])
    special = (gain >= GAIN) & (q < RATE) & (words[:, None] >= LEAST_CASES)
    variables.add("special", np.where(np.isnan(accuracy), np.nan, special))


def _add_baselines(variables: Variables, scores: list[RelationScore]) -> None:
    interval = [score.baseline.share_interval[0] for score in scores]
    variables.add("baseline", [score.baseline.mean[0] for score in scores], interval=interval)
    _add_fixed_words(variables, "baseline", [score.fixed for score in scores])


def _add_fixed_words(variables: Variables, name: str, words: list[FixedWord | None]) -> None:
    """Add the offset and the position of fixed words, of which each has one; NaN for no word."""
    offsets = [np.nan if word is None or word.position else word.offset for word in words]
    variables.add(f"{name}_offset", offsets)
    variables.add(f"{name}_position", [(word and word.position) or np.nan for word in words])


def _add_best(variables: Variables, best: list[BestHead | None], heads: tuple[int, ...]) -> None:
    add_place(variables, best, heads)
    variables.add("chosen_direction", column(best, lambda choice: DIRECTIONS[choice.selected.direction], ""))
    _add_fixed_words(variables, "chosen", column(best, lambda choice: choice.selected.baseline, None))
    add_held_out(variables, best, [f"chosen_{name}" for name in HELD_OUT], "words of each relation", shares=2)

"""Run the study: from its options to a labelled result."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora.corpus import joint_sha256
from headscope.corpora.suites import Suite, read_suites
from headscope.errors import HeadscopeError
from headscope.models.random_weights import untrained
from headscope.outputs.words.predictor import WordPredictor
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, WordsModel
from headscope.ranges import Range
from headscope.studies.words.cloze.controls import CONTROLS, controlled, name_guesses, prior, string_matches
from headscope.studies.words.cloze.fact_variables import fact_variables
from headscope.studies.words.cloze.item_scores import ItemScores, item_scores, write_items
from headscope.studies.words.cloze.judging import judgments
from headscope.studies.words.cloze.mined_wordings import with_mined_wordings
from headscope.studies.words.cloze.scoring import Scoring
from headscope.studies.words.cloze.variables import suite_variables, to_variables


def run(  # noqa: PLR0913 (each is an option of the command)
    model: WordsModel,
    suites: tuple[str | Path | Suite, ...],
    settings: Settings = DEFAULTS,
    *,
    directory: Directory | None = None,
    data: Path | None = None,
    items: bool = False,
    limit: Annotated[int, Range(1, 1_000_000_000)] | None = None,
    per_condition: Annotated[int, Range(1, 1_000_000_000)] | None = None,
    skip_bad: bool = False,
    masking: Literal["within-word", "plain"] = "within-word",
    random: bool = True,
    controls: bool = True,
    unigrams: str | None = None,
    paraphrase: Annotated[int, Range(0, 100)] = 0,
    judge: str | None = None,
) -> xr.Dataset:
    """`accuracy[phenomenon]`: the share of items whose good text has the higher score.

    A sentence scores the sum of the log-probabilities of its pieces, each masked in turn (Salazar et al. 2020), and
    later pieces of the same word with it (Kauf and Ivanova 2023); a gap scores its answer alone. A causal model
    predicts each piece from those before it. Equal scores count a half. After Ctrl-C the result has the items that are
    done, and the baselines and controls of all of them.

    Arguments:

    * `model`: Model with a masked-language or causal head.
    * `suites`: Suites by name or file.
    * `settings`: Seed, batch size, number of resamples, workers, and progress.
    * `directory`: Folder of the result.
    * `data`: Folder with the files of named suites.
    * `items`: Also write items.csv: the scores of each item, in nats.
    * `limit`: Read N items of each suite, drawn evenly over its conditions.
    * `per_condition`: Read N items of each condition of each phenomenon (of each paradigm of BLiMP), spread evenly
      over the file.
    * `skip_bad`: Leave out and count lines that cannot be read.
    * `masking`: Mask later pieces of the same word too, or each piece of a sentence alone.
    * `random`: Also score the model with random weights.
    * `controls`: Also score shuffled and truncated texts.
    * `unigrams`: Corpus whose frequencies are the unigram baseline; by default the prediction for a lone mask.
    * `paraphrase`: Also ask facts in N wordings that the model makes from the suite's, by filling one masked word of it
      (after Jiang et al. 2020).
    * `judge`: Also let a classifier of acceptability judge the sentences of pairs: a model that is fine-tuned on CoLA
      (Warstadt et al. 2019).

    Raises `HeadscopeError` if a suite cannot be read, the model has no head for words, or no item can be scored.
    """
    suites = _read(suites, data, limit, per_condition, skip_bad)
    predictor = WordPredictor(model)
    suites = with_mined_wordings(predictor, suites, paraphrase, settings) if paraphrase else suites
    scored = [item for suite in suites for item in suite.items]
    judged = judgments(judge, scored, settings) if judge is not None else {}  # a judge of no use ends the run here
    plain = masking == "plain"
    texts = sum(max(1, len(item.candidates)) for item in scored)
    settings.on_total(texts * (1 + random + len(CONTROLS) * controls))
    scoring = Scoring(settings, plain)
    own = scoring.scores("the model", predictor, scored)
    scored, suites = scored[: len(own.good)], _first(suites, len(own.good))
    _refuse_unscored(suites, own)
    of_pieces = prior(predictor, unigrams)
    baselines = {"unigram": item_scores(predictor, scored, settings.quiet, plain=plain, prior=of_pieces)}
    if random and not scoring.interrupted:
        by_chance = WordPredictor(untrained(model, settings.seed))
        baselines = scoring.complete("random weights", by_chance, scored) | baselines
    changed = dict[str, ItemScores]()
    for name in CONTROLS if controls else ():
        changed |= scoring.complete(name, predictor, controlled(scored, name, settings.seed))
    names = [suite.name for suite in suites for _ in suite.items]
    if directory is not None:
        write_items(directory, scored, names, own, items)
    vocabulary = len(of_pieces.log_probabilities)
    judged = {} if scoring.interrupted else judged
    variables = to_variables(scored, names, own, baselines, changed, settings, vocabulary=vocabulary, judged=judged)
    if not scoring.interrupted:
        guesses = name_guesses(predictor, scored, settings.quiet)
        matches = string_matches(scored)
        variables |= fact_variables(scored, own, baselines, matches, guesses, settings)
        variables |= suite_variables(scored, names, own, baselines, changed, matches | guesses, settings)
    attributes: dict[str, Any] = provenance("cloze", model, _together(suites), settings)
    attributes |= _counts(suites, own) | {"masking": masking, "unigrams": unigrams or "the prediction for a lone mask"}
    attributes |= {} if judge is None else {"judge": judge}
    if scoring.interrupted:
        attributes["interrupted"] = scoring.interrupted
    return results.check(xr.Dataset(variables, attrs=attributes))


def _read(
    suites: Any, data: Path | None, limit: int | None, per_condition: int | None, skip_bad: bool
) -> tuple[Suite, ...]:
    """The suites, those that are named read from their files."""
    given = (suites,) if isinstance(suites, str | Path | Suite) else tuple(suites)
    if not given:
        raise HeadscopeError("no suite is named; name one, such as numeracy, or a file")
    read = partial(read_suites, data=data, limit=limit, per_condition=per_condition, skip_bad=skip_bad)
    return tuple(suite for one in given for suite in ((one,) if isinstance(one, Suite) else read([one])))


def _first(suites: Sequence[Suite], items: int) -> tuple[Suite, ...]:
    """The suites with the first `items` items alone."""
    starts = [0, *accumulate(len(suite.items) for suite in suites)]
    kept = (replace(suite, items=suite.items[: max(0, items - at)]) for suite, at in zip(suites, starts, strict=False))
    return tuple(suite for suite in kept if suite.items)


def _refuse_unscored(suites: Sequence[Suite], own: ItemScores) -> None:
    if np.isnan(own.correct).all():
        reasons = ", ".join(f"{count} {reason}" for reason, count in own.left_out.items())
        raise HeadscopeError(f"suite '{suites[0].name}': no item can be scored ({reasons}); name another suite")


def _together(suites: Sequence[Suite]) -> Any:
    """Name and hash of all suites, as those of one corpus."""
    digest = joint_sha256([suite.sha256 for suite in suites])
    drawn = next((suite.drawn for suite in suites if suite.drawn), "")
    return Suite(", ".join(suite.name for suite in suites), digest, (), {}, drawn)


def _counts(suites: Sequence[Suite], own: ItemScores) -> dict[str, str | int]:
    """The phenomena of each suite, and the numbers of items that were scored, left out or counted, as attributes."""
    phenomena = {suite.name: list(dict.fromkeys(item.phenomenon for item in suite.items)) for suite in suites}
    skipped = sum((Counter(suite.skipped) for suite in suites), Counter(own.left_out))
    return {
        "suites": json.dumps(phenomena),
        "n_examples": int((~np.isnan(own.correct)).sum()),
        "n_tokens": own.tokens,
        "skipped": json.dumps(skipped),
        "counted": json.dumps(own.counted),
    }

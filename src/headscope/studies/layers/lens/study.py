"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import xarray as xr
from jaxtyping import Bool, Float, Int

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import classes_of
from headscope.corpora.suites import read_suites
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.residual_writes import residual_writes
from headscope.outputs.words.read_texts import OF_TEXT, ReadTexts
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import WordsModel
from headscope.ranges import Range
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units, of_differences
from headscope.studies.layers.lens import STUDY
from headscope.studies.layers.lens.contributions import contributions
from headscope.studies.layers.lens.patching import patched, runs
from headscope.studies.layers.lens.predictions import LENSES, LayerPredictions, gap_items, items_won, layer_predictions
from headscope.studies.layers.lens.reading import AffineMap, LayerReader, fit_maps, layer_reader
from headscope.studies.layers.lens.text_pair import text_pair
from headscope.studies.layers.lens.texts import classes_of_predictions, late_examples, split_texts

COUNTED = ("right", "direct_head_gain")  # with the number of predictions beside them


def run(  # noqa: PLR0913 (each is an option of the command)
    model: WordsModel,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    suite: str | None = None,
    data: Path | None = None,
    text: str | None = None,
    against: str | None = None,
    answers: str | None = None,
    predictions: Annotated[int, Range(20, 100_000)] = 2000,
    map_predictions: Annotated[int, Range(0, 50_000)] = 4000,
    every_piece: bool = False,
) -> xr.Dataset:
    """`final_first[lens, space]`: how often the prediction of a layer is that of the last one.

    The states of a layer go through the last steps of the model, and through its head: as they are (the lens "plain",
    nostalgebraist 2020), and mapped to those of the last layer by an affine map ("mapped", Din et al. 2024).

    A masked model predicts four pieces of each text, each masked alone; a causal model predicts each piece from those
    before it. Every fifth document (or text) is reported; maps are fitted to the others, by least squares, where these
    have as many predictions as a state has columns.

    `direct_head[layer, head]`: what a head adds to the logit of the right piece (Elhage et al. 2021), where the last
    states are the sum of what heads and layers write. With `text` and `against`, states of the first text are put into
    the second: `restored_by_state` and `restored_by_head` say which of them bring its prediction back.

    Arguments:

    * `model`: Model with a masked-language or causal head.
    * `corpus`: Text whose pieces are predicted.
    * `suite`: Also read the gaps of this suite, by name or file, such as agreement.
    * `data`: Folder with the files of a named suite.
    * `text`: Put states of this text, up to the word it predicts (or with [MASK]), into the text of `against`.
    * `against`: Text of the same number of pieces that predicts another word.
    * `answers`: The words that the two texts are to predict, as WORD,WORD; by default those that the model predicts.
    * `predictions`: Report at most this number of predictions.
    * `map_predictions`: Fit the maps to at most this number of predictions; 0 leaves the maps out.
    * `every_piece`: Mask each piece of a text once, not four of them: a text of N pieces is read N times.

    Raises `HeadscopeError` if the model has no head for words, its layers cannot be read, the corpus is too short, or
    the suite has no item with two single pieces in a gap, or the two texts do not fit each other.
    """
    reader = layer_reader(model)
    if (text is None) != (against is None):
        raise HeadscopeError("--text and --against need each other: name two texts of the same number of pieces")
    pair = text_pair(model, (text, against), answers) if text is not None and against is not None else None
    items = gap_items(model, read_suites([suite], data=data)[0]) if suite else None
    most_masked = model.max_tokens if every_piece else OF_TEXT
    fitted, reported = split_texts(model, corpus, max(predictions, map_predictions), settings.seed, most_masked)
    reported, most_frequent = reported.first(predictions), fitted.most_frequent
    _refuse_empty(corpus, reported)
    fitted, left_out = fitted.first(map_predictions), ""
    if 0 < fitted.pieces < reader.width:
        left_out = f"{fitted.pieces} predictions of other texts are fewer than the {reader.width} columns of a state"
        settings.on_notice(f"no mapped lens: {left_out}; name more text, or raise --map-predictions")
        fitted = fitted.first(0)
    tokens = min(settings.batch_tokens, reader.most_tokens)
    writes = residual_writes(model)
    further = (len(items.texts) if items else 0) + (runs(pair) if pair else 0)
    times = 1 if isinstance(writes, str) else 2
    settings.on_total(fitted.pieces + times * reported.pieces + further)
    maps = _maps(model, reader, fitted, tokens, settings) if fitted.texts else []
    read = layer_predictions(reader, reported.parts(model, tokens), maps, settings.on_progress)
    variables = to_variables(
        read.lenses(1 + bool(maps)), reported.units, most_frequent, settings.seed, settings.resamples
    )
    if classes := classes_of(corpus):
        names = np.array(classes_of_predictions(model, reported, read))
        add_classes(variables, read, {name: names == name for name in classes}, reported.units, settings)
    direct = writes if isinstance(writes, str) else contributions(model, writes, reported, tokens, settings)
    if not isinstance(direct, str):
        for name, cases in direct.items():
            _add(variables, name, mean_of_cases(cases, reported.units[read.text], settings.seed, settings.resamples))
    if items:
        texts = ReadTexts(items.texts, reported.units[:0])
        of_items = layer_predictions(reader, texts.parts(model, tokens), maps, settings.on_progress)
        won = items_won(of_items.lenses(1 + bool(maps)), len(items.items))
        parts = {name: numbers for name, numbers in items.conditions().items() if numbers}
        right = {name: won[..., numbers] for name, numbers in parts.items()}
        lemmas = {name: items.units(numbers) for name, numbers in parts.items()}
        add_agreement(variables, right, lemmas, settings.seed, settings.resamples)
    if pair:
        restored = Variables({"text_token": pair.labels}, STUDY.source, STUDY.labels)
        for name, values in patched(pair, reader.stack, settings).items():
            restored.add(name, values)
        variables.arrays.update(restored.arrays)
    attributes: dict[str, Any] = provenance("lens", model, corpus, settings) | {
        "n_examples": len(reported.texts),
        "n_tokens": sum(len(text.ids) for text in reported.texts),
        "skipped": json.dumps(dict(corpus.skipped) | dict(reported.left_out)),
        "examples": json.dumps(late_examples(model, reported, read, lens=int(bool(maps))), ensure_ascii=False),
        "fitted": fitted.pieces,
        "maps_left_out": left_out,
        "contributions_left_out": direct if isinstance(direct, str) else "",
        "suite": suite or "",
        "pair": json.dumps({"texts": [text, against], "answers": pair.words} if pair else {}, ensure_ascii=False),
        "suite_left_out": json.dumps(dict(items.left_out) if items else {}),
        "resampled": corpus.resampled,
    }
    return results.check(xr.Dataset(variables.arrays, attrs=attributes))


def _maps(model: Model, reader: LayerReader, texts: ReadTexts, most: int, settings: Settings) -> list[AffineMap]:
    """Maps of the states at the predictions of some texts."""
    states = []
    for part in texts.parts(model, most):
        rows, tokens = part.row[part.read], part.token[part.read]
        states.append(torch.stack([space[rows, tokens] for space in reader.states(part)]).float())
        settings.on_progress(len(part.target))
    return fit_maps(torch.cat(states, dim=1))


def _refuse_empty(corpus: Corpus, reported: ReadTexts) -> None:
    """Raise `HeadscopeError` if there is nothing to report."""
    if not reported.texts:
        why = "; ".join(f"{count} {reason}" for reason, count in reported.left_out.items())
        raise HeadscopeError(f"corpus '{corpus.name}' has no text with a piece to predict ({why}); name a larger one")


def to_variables(
    predictions: LayerPredictions, units: Int[np.ndarray, " text"], most_frequent: int | None, seed: int, resamples: int
) -> Variables:
    """All numbers of the predictions of a corpus.

    * `units`: what texts are resampled with; `most_frequent`: the most frequent piece of other texts, if there are any.
    """
    lenses, spaces, _ = predictions.top.shape
    coords = {"lens": list(LENSES[:lenses]), "space": list(range(spaces))}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    settling = predictions.settling
    settled = (settling[:, None] <= np.arange(spaces)[:, None]).astype(float)
    unit_of_case = units[predictions.text]
    values = {"right": predictions.right, "final_first": predictions.final_first, "settled": settled}
    for name, cases in values.items():
        _add(variables, name, mean_of_cases(cases, unit_of_case, seed, resamples, of_answers=True))
    right = predictions.right
    gains = {"right_change": right - right[:, -1:]}
    if most_frequent is not None:
        constant = (predictions.target == most_frequent).astype(float)
        share = mean_of_cases(constant, unit_of_case, seed, resamples, of_answers=True)
        _add(variables, "right_most_frequent", share)
        gains["right_gain"] = right[0, -1] - constant
    for name, cases in gains.items():
        gain = mean_of_cases(cases, unit_of_case, seed, resamples)
        variables.add(name, gain.mean, interval=of_differences(gain.interval, gain.units))
    rank = mean_of_cases(np.log(predictions.rank), unit_of_case, seed, resamples)
    bounds = np.exp(rank.interval)
    variables.add("final_rank", np.exp(rank.mean), interval=bounds)
    _add(variables, "final_divergence", mean_of_cases(predictions.divergence, unit_of_case, seed, resamples))
    _add(variables, "settling_layer", mean_of_cases(settling.astype(float), unit_of_case, seed, resamples))
    return variables


def add_classes(
    variables: Variables,
    predictions: LayerPredictions,
    members: Mapping[str, Bool[np.ndarray, " prediction"]],
    units: Int[np.ndarray, " text"],
    settings: Settings,
) -> None:
    """Add right predictions and the loss by the class of words; `members` are the predictions of each class."""
    members = {name: chosen for name, chosen in members.items() if chosen.any()}
    if not members:
        return
    added = Variables({**variables.coords, "word_class": list(members)}, STUDY.source, STUDY.labels)
    lenses = len(variables.coords["lens"])
    for variable, cases in (
        ("right_by_class", predictions.right[:lenses]),
        ("loss_by_class", -predictions.log_probability[:lenses]),
    ):
        scores = [
            mean_of_cases(
                cases[..., chosen],
                units[predictions.text[chosen]],
                settings.seed,
                settings.resamples,
                of_answers=variable == "right_by_class",
            )
            for chosen in members.values()
        ]
        counts = Count([score.count for score in scores], "predictions of a class", "predictions", ("word_class",))
        bounds = np.stack([score.interval for score in scores], -2)
        added.add(variable, np.stack([score.mean for score in scores], -1), interval=bounds, count=counts)
    variables.arrays.update(added.arrays)


def add_agreement(
    variables: Variables,
    right: Mapping[str, Float[np.ndarray, "lens space item"]],
    lemmas: Mapping[str, Sequence[int]],
    seed: int,
    resamples: int,
) -> Variables:
    """Add the items won at each space by condition; `lemmas` are the numbers that items are resampled with.

    A condition is a class of items, such as the number of attractors.
    """
    coords = {**variables.coords, "condition": list(right)}
    added = Variables(coords, STUDY.source, STUDY.labels)
    scores = [
        mean_of_cases(cases, np.array(lemmas[name]), seed, resamples, of_answers=True) for name, cases in right.items()
    ]
    counts = Count([score.count for score in scores], "items of a condition", "items", ("condition",))
    values, bounds = np.stack([score.mean for score in scores], -1), np.stack([score.interval for score in scores], -2)
    added.add("agreement", values, interval=bounds, count=counts)
    variables.arrays.update(added.arrays)
    return variables


def mean_of_cases(
    cases: Float[np.ndarray, "*dims case"],
    units: Int[np.ndarray, " case"],
    seed: int,
    resamples: int,
    *,
    of_answers: bool = False,
) -> Score:
    """The mean over cases; all cases of a unit (a text, a document, a lemma) are drawn together.

    * `of_answers`: whether cases are zeros and ones.

    >>> mean_of_cases(np.array([[0.0, 1.0, 1.0, 1.0]]), np.array([0, 0, 1, 1]), 0, 50).mean.tolist()
    [0.75]
    """
    present, row = np.unique(units, return_inverse=True)
    flat = cases.reshape(-1, cases.shape[-1])
    sums = np.stack(
        [np.bincount(row, values_of_case, len(present)) for values_of_case in flat], axis=1
    )  # [unit, value]
    sizes, draws = np.bincount(row, minlength=len(present)), poisson_draws(present, seed, resamples)
    counts = draws @ sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = (draws @ sums) / counts[:, None]
    shape = cases.shape[:-1]
    return Score(
        flat.mean(-1).reshape(shape),
        resampled.reshape(resamples, *shape),
        len(row),
        float(effective_units(counts)),
        of_answers,
    )


def _add(variables: Variables, name: str, score: Score) -> xr.DataArray:
    counts = Count(score.count, "predictions", "predictions")
    return variables.add(name, score.mean, interval=score.interval, count=counts if name in COUNTED else None)

"""Run the study: from its options to a labelled result."""

import json
from pathlib import Path
from typing import Annotated, Any

import torch
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.suites import read_suites
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import WordsModel
from headscope.ranges import Range
from headscope.studies.layers.lens.agreement import gap_items, items_won
from headscope.studies.layers.lens.predictions import layer_predictions
from headscope.studies.layers.lens.reading import AffineMap, LayerReader, fit_maps, layer_reader
from headscope.studies.layers.lens.texts import ReadTexts, late_examples, split_texts
from headscope.studies.layers.lens.variables import add_agreement, to_variables


def run(
    model: WordsModel,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    suite: str | None = None,
    data: Path | None = None,
    predictions: Annotated[int, Range(20, 100_000)] = 2000,
    map_predictions: Annotated[int, Range(0, 50_000)] = 4000,
) -> xr.Dataset:
    """`final_first[lens, space]`: how often the prediction of a layer is that of the last one.

    The states of a layer go through the last steps of the model, and through its head: as they are (the lens "plain",
    nostalgebraist 2020), and mapped to those of the last layer by an affine map ("mapped", Din et al. 2024).

    A masked model predicts four pieces of each text, each masked alone; a causal model predicts each piece from those
    before it. Every fifth document (or text) is reported; maps are fitted to the others, by least squares, where these
    have as many predictions as a state has columns.

    Arguments:

    * `model`: Model with a masked-language or causal head.
    * `corpus`: Text whose pieces are predicted.
    * `settings`: Seed, batch size, number of resamples, and progress.
    * `suite`: Also read the gaps of this suite, by name or file, such as agreement.
    * `data`: Folder in which the files of a named suite lie.
    * `predictions`: Report at most this number of predictions.
    * `map_predictions`: Fit the maps to at most this number of predictions; 0 leaves the maps out.

    Raises `HeadscopeError` if the model has no head for words, its layers cannot be read, the corpus is too short, or
    the suite has no item with two single pieces in a gap.
    """
    reader = layer_reader(model)
    items = gap_items(model, read_suites([suite], data=data)[0]) if suite else None
    fitted, reported = split_texts(model, corpus, max(predictions, map_predictions), settings.seed)
    reported, most_frequent = reported.first(predictions), fitted.most_frequent
    _refuse_empty(corpus, reported)
    fitted, left_out = fitted.first(map_predictions), ""
    if 0 < fitted.pieces < reader.width:
        left_out = f"{fitted.pieces} predictions of other texts are fewer than the {reader.width} columns of a state"
        settings.on_notice(f"no mapped lens: {left_out}; name more text, or raise --map-predictions")
        fitted = fitted.first(0)
    tokens = min(settings.batch_tokens, reader.most_tokens)
    settings.on_total(fitted.pieces + reported.pieces + (len(items.texts) if items else 0))
    maps = _maps(model, reader, fitted, tokens, settings) if fitted.texts else []
    read = layer_predictions(reader, reported.parts(model, tokens), maps, settings.on_progress)
    variables = to_variables(
        read.lenses(1 + bool(maps)), reported.units, most_frequent, settings.seed, settings.resamples
    )
    if items:
        texts = ReadTexts(items.texts, reported.units[:0])
        of_items = layer_predictions(reader, texts.parts(model, tokens), maps, settings.on_progress)
        won = items_won(of_items.lenses(1 + bool(maps)), len(items.items))
        parts = {name: numbers for name, numbers in items.conditions().items() if numbers}
        right = {name: won[..., numbers] for name, numbers in parts.items()}
        lemmas = {name: items.units(numbers) for name, numbers in parts.items()}
        add_agreement(variables, right, lemmas, settings.seed, settings.resamples)
    attributes: dict[str, Any] = provenance("lens", model, corpus, settings) | {
        "n_examples": len(reported.texts),
        "n_tokens": sum(len(text.ids) for text in reported.texts),
        "skipped": json.dumps(dict(corpus.skipped) | dict(reported.left_out)),
        "examples": json.dumps(late_examples(model, reported, read, lens=int(bool(maps))), ensure_ascii=False),
        "fitted": fitted.pieces,
        "maps_left_out": left_out,
        "suite": suite or "",
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

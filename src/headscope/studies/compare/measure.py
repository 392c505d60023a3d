"""Comparison of models over a corpus as a result: each later model beside the first, if they can be compared."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import xarray as xr
from transformers import PreTrainedTokenizerBase

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models.model import Model
from headscope.models.words_head import adapted_head
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import DEFAULTS, Settings
from headscope.results.variables import Variable, label
from headscope.statistics.bootstrap import Tally
from headscope.studies.compare.paired_pass import fold_pairs

# Differences between tokenizers of one vocabulary: case, accents, blanks, numbers, other scripts, and segments.
PROBES = (
    ("The cat sat on the mat.", None),
    ("Don't SHOUT in Zürich, naïve café-goer!", None),
    ("  two  blanks\tand 1,234.56 of (something) else ... ", None),
    ("日本語 и русский, عربى, 🙂", None),
    ("Is this one text?", "No, it is a pair."),
)


def refuse_unless_comparable(models: Sequence[Model]) -> None:
    """Raise `HeadscopeError`, with the reason, unless each model can be compared with the first."""
    first = models[0]
    if len(models) < 2:
        raise HeadscopeError(f"model '{first.name}' has no model to compare with; name two or more")
    for index, model in enumerate(models[1:], start=1):
        if any(model.network is other.network for other in models[:index]):
            raise HeadscopeError(f"model '{model.name}' is given twice as one object; load it twice")
        if model.device != first.device:
            raise HeadscopeError(
                f"models '{first.name}' and '{model.name}' are on different devices "
                f"({first.device}, {model.device}); load them with the same one"
            )
        if reason := _other_tokens(first.tokenizer, model.tokenizer) or _other_shape(first, model):
            raise HeadscopeError(f"models '{first.name}' and '{model.name}' cannot be compared: {reason}")


def _other_tokens(one: PreTrainedTokenizerBase, other: PreTrainedTokenizerBase) -> str | None:
    remedy = "name models of one tokenizer"
    if one.get_vocab() != other.get_vocab():
        same = len(one.get_vocab().items() & other.get_vocab().items())
        return f"their tokenizers have {len(one)} and {len(other)} pieces, {same} in common; {remedy}"
    if one.special_tokens_map != other.special_tokens_map:
        return f"their tokenizers have different special tokens; {remedy}"
    for first, second in PROBES:
        tokens = [tokenizer(first, second, return_token_type_ids=None, verbose=False) for tokenizer in (one, other)]
        if dict(tokens[0]) != dict(tokens[1]):
            return f"their tokenizers split '{first}' differently; {remedy}"
    return None


def _other_shape(one: Model, other: Model) -> str | None:
    shapes = [one.capture.heads, other.capture.heads]
    if shapes[0] == shapes[1]:
        return None
    layers = [f"{len(heads)} layers of {', '.join(map(str, sorted(set(heads))))} heads" for heads in shapes]
    if layers[0] == layers[1]:
        return f"heads by layer are {shapes[0]} and {shapes[1]}; name models with the same heads"
    return f"{layers[0]} and {layers[1]}; name models with the same heads"


def compare(
    study: str,
    models: Sequence[Model],
    corpus: Corpus,
    measures: Iterable[str],
    comparisons: Iterable[str],
    settings: Settings = DEFAULTS,
    *,
    pad_to: int = 0,
) -> xr.Dataset:
    """Compare models in one pass over the corpus.

    Comparisons and differences of measures have the dimension `model`: the later models, by short names.

    * `measures`, `comparisons`: names of modules in these folders.
    * `pad_to`: pad inputs to at least this number of tokens, which is then also the limit.

    Raises `HeadscopeError` if the models cannot be compared, or no example fits into them.
    """
    refuse_unless_comparable(models)
    first, *later = short_names([model.name for model in models])
    measured = {name: catalog.load("measures", name) for name in measures}
    paired = {name: catalog.load("measures/comparisons", name) for name in comparisons}
    limits = [model.max_tokens for model in models] + ([pad_to] if pad_to else [])
    words = Words(models[0].tokenizer, min(limits), settings.long)
    attributes = provenance(study, models[0], corpus, settings) | _named(first, later, models)
    result = fold_pairs(Pass(models[0], corpus, settings, words, pad_to), models[1:], measured, paired)
    for model in models[1:]:
        model.refuse_changed()
    tallies, heads = result.value, models[0].capture.heads
    variables = {}
    for name, module in paired.items():
        variables |= _by_model(_beside(module.VARIABLE, later), tallies[name], heads)
        variables |= _by_layer(_beside(module.VARIABLE, later, "layer"), tallies[f"layer_{name}"], len(heads))
    for name, module in measured.items():
        change = _beside(module.VARIABLE, later, "difference")
        variables |= _by_model(change, tallies[f"difference_{name}"], heads)
    return results.check(xr.Dataset(variables | result.coverage.variables(), attrs=attributes | result.attributes))


def short_names(names: Sequence[str]) -> list[str]:
    """Shortest distinct endings of paths; equal names are numbered.

    >>> short_names(["google/bert", "out/rte/model", "out/mrpc/model"])
    ['google/bert', 'rte/model', 'mrpc/model']
    >>> short_names(["minilm", "minilm"])
    ['minilm', 'minilm (2)']
    """
    parts = [Path(name).parts for name in names]
    for number in range(1, max(map(len, parts)) + 1):
        short = [str(Path(*part[-number:])) for part in parts]
        if len(set(short)) == len(short):
            return short
    times = [names[: index + 1].count(name) for index, name in enumerate(names)]
    return [name if time == 1 else f"{name} ({time})" for name, time in zip(names, times, strict=True)]


def _named(first: str, later: Sequence[str], models: Sequence[Model]) -> dict[str, str]:
    """Attributes of the compared models; `model_sha256` and the like are of the first."""
    names = [first, *later]
    notes = {name: adapted_head(model.network.config) for name, model in zip(names, models, strict=True)}
    adapted = "; ".join(f"{name}: {note}" for name, note in notes.items() if note)
    return {
        "model": f"{first} → {', '.join(later)}",
        "reference": first,
        "compared": json.dumps({name: model.name for name, model in zip(names, models, strict=True)}),
        "compared_sha256": json.dumps({name: model.sha256 for name, model in zip(names, models, strict=True)}),
        **({"adapted_head": adapted} if adapted else {}),
        "compared_capture": json.dumps({name: model.capture.method for name, model in zip(names, models, strict=True)}),
    }


WORDS = {"": "", "layer": "mean over heads of ", "difference": "change since the first model of "}


def _beside(variable: Variable, later: Sequence[str], what: str = "") -> Variable:
    """A variable with the dimension `model`: the comparison, its mean over heads of a layer, or a difference."""
    return replace(
        variable,
        name="_".join(filter(None, (what, variable.name))),
        long_name=WORDS[what] + variable.long_name,
        coords={"model": tuple(later), **variable.coords},
    )


def _by_model(variable: Variable, tally: Tally, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    return {name: array.transpose("model", ...) for name, array in label(variable, tally, heads).items()}


def _by_layer(variable: Variable, tally: Tally, layers: int) -> dict[str, xr.DataArray]:
    arrays = _by_model(variable, tally, (1,) * layers)
    return {name: array.isel(head=0, drop=True, missing_dims="ignore") for name, array in arrays.items()}

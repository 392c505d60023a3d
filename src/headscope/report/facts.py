"""The description of a result: model, corpus, provenance and glossary."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

import xarray as xr

from headscope import catalog, results
from headscope.figures.labels import NO_TOKEN, label, title
from headscope.figures.theme import named
from headscope.report.wording import several
from headscope.results.vocabulary import dimensions

# Intervals over fewer documents miss too often, or are too wide.
FEW = 10
TERMS = {
    "8-10": "Layer 8, head 10. Both count from 1; layer 1 is nearest to the input.",
    "attention": "The weights that a head gives, for one token (the query), to all tokens (the keys); they sum to 1.",
    "95% interval": "A percentile bootstrap interval over documents, or examples where these are not known: the "
    "range of the mean for others of the same kind. It does not hold for other corpora.",
    "n": "The number of examples in a mean; examples without the measured tokens are left out.",
    "entropy": "How broad attention is, in nats: 0 if one token gets all of it, ln L if L tokens get the same.",
    "uniform attention": "The same weight for all tokens.",
}
OF_ATTENTION = {"attention", "entropy", "uniform attention"}
JOINED = {"seeds": "Do models of several seeds agree on which heads matter?"}
SPECIAL = {"cls": "The token at the start of an input.", "sep": "The token at the end of each segment."}


def described(result: xr.Dataset) -> dict[str, Any]:
    """The description of a result, as values of the template of its page."""
    return {
        "attrs": result.attrs,
        "model_title": model_title(result),
        "lead": lead(result),
        "facts": summary(result),
        "n_heads": result.sizes.get("layer", 0) * result.sizes.get("head", 0),
        "attention": reads_attention(result),
        "glossary": glossary(result),
        "provenance": provenance(result),
        "command_line": command_line(result),
    }


def model_title(result: xr.Dataset) -> str:
    """The name of the model; of a longer path its last two parts.

    >>> model_title(xr.Dataset(attrs={"model": "/home/ann/out/tuned/model"}))
    'tuned/model'
    """
    parts = str(result.attrs["model"]).split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else str(result.attrs["model"])


def lead(result: xr.Dataset) -> str:
    """The question of the study, or of what was joined, and what was read: model, corpus and counts."""
    study = str(result.attrs["study"])
    declared = study in catalog.names("studies")
    question = catalog.study(study).question if declared else JOINED.get(study, f"{study.capitalize()}.")
    return f"{question} {read(result)}.".strip()


def read(result: xr.Dataset) -> str:
    """What was read: model, corpus, examples and tokens.

    >>> read(xr.Dataset(attrs={"model": "minilm", "corpus": "sample", "n_examples": 2, "n_tokens": 31}))
    'minilm on sample, 2 examples, 31 tokens'
    """
    attrs = result.attrs
    drawn = f" ({attrs['drawn']})" if attrs.get("drawn") else ""
    return f"{attrs['model']} on {attrs['corpus']}, {_counted(attrs, n_examples='example', n_tokens='token')}{drawn}"


def reads_attention(result: xr.Dataset) -> bool:
    """Whether the numbers are of attention; of a study that is not declared whether they are of heads."""
    study = str(result.attrs["study"])
    return catalog.study(study).attention if study in catalog.names("studies") else "head" in result.dims


def summary(result: xr.Dataset) -> list[tuple[str, str]]:
    """The facts that a reader needs first."""
    attrs, sizes = result.attrs, result.sizes
    facts = [("Type", attrs.get("model_type", "")), *model_notes(attrs)]
    if {"layer", "head"} <= set(sizes):
        facts.append(("Heads", f"{sizes['layer']} layers × {sizes['head']} heads"))
    counted = _counted(attrs, n_examples="example", n_tokens="token")
    if attrs.get("n_generated"):
        counted += "; " + _counted(attrs, n_generated="generated text", n_generated_tokens="token")
    if attrs.get("drawn"):
        counted += f" ({attrs['drawn']})"
    over = [("Intervals", _intervals(str(attrs["resampled"])))] if attrs.get("resampled") else []
    return [
        (term, str(text))
        for term, text in [*facts, ("Read", counted), ("Caution", attrs.get("unknown_tokens", "")), *over]
        if str(text)
    ]


def model_notes(attributes: Mapping[Any, Any]) -> list[tuple[str, str]]:
    """What a reader must know of the model, and of what was left unread.

    >>> model_notes({"adapted_head": "new (encoder frozen)"})
    [('Masked-language head', 'new (encoder frozen)')]
    """
    terms = {
        "adapted_head": "Masked-language head",
        "tokenizer": "Tokenizer",
        "model_notes": "How it is read",
        "quantisation": "Quantised",
        "read_in_part": "Read in part",
    }
    return [(term, str(attributes[name])) for name, term in terms.items() if attributes.get(name)]


def _intervals(resampled: str) -> str:
    """What 95% intervals are over, with a warning where they are not to be relied on.

    >>> _intervals("31 documents"), _intervals("7 documents")
    ('95%, over 31 documents', '95%, over 7 documents: too few to rely on')
    """
    count = resampled.partition(" ")[0]
    few = resampled.endswith("documents") and count.isdigit() and int(count) < FEW
    return f"95%, over {resampled}{': too few to rely on' if few else ''}"


def provenance(result: xr.Dataset) -> list[tuple[str, str]]:
    """All attributes of a result but its command, in words; those that hold JSON are spelt out."""
    attributes = {key: value for key, value in result.attrs.items() if str(value) and key != "command"}
    return [(str(key).replace("_", " "), _spelt(value)) for key, value in attributes.items()]


def command_line(result: xr.Dataset) -> str:
    """The command that made a result; empty where it is not known.

    >>> command_line(xr.Dataset(attrs={"command": '["profile", "minilm", "my texts.txt"]'}))
    "headscope profile minilm 'my texts.txt'"
    """
    words = json.loads(result.attrs.get("command", "[]"))
    return shlex.join(["headscope", *map(str, words)]) if words else ""


def glossary(result: xr.Dataset) -> list[tuple[str, str]]:
    """The terms of a report, its variables and its dimensions."""
    variables = [(named(result[name]), _definition(result[name])) for name in results.means(result)]
    terms = [(term, text) for term, text in TERMS.items() if reads_attention(result) or term not in OF_ATTENTION]
    used = [(title(name), f"{dimension.what}.") for name, dimension in dimensions().items() if name in result.dims]
    special = [(label("token_class", name), text) for name, text in SPECIAL.items()]
    tokens = [(name, text) for name, text in special if name not in NO_TOKEN.values()]
    return [*terms, *tokens, *variables, *used]


def _definition(array: xr.DataArray) -> str:
    by = ", ".join(title(str(dim)).lower() for dim in array.dims)
    parts = [array.attrs.get("units", ""), f"by {by}" if by else "one value", array.attrs.get("source", "")]
    return "; ".join(str(part) for part in parts if part) + "."


def _counted(attributes: Mapping, **things: str) -> str:
    return ", ".join(several(int(float(str(attributes[name]))), thing) for name, thing in things.items())


def _spelt(value: object) -> str:
    """A value in words: JSON objects as "key: value", one after the other."""
    try:
        read = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return str(value)
    if not isinstance(read, Mapping):
        return str(value)
    return ", ".join(f"{key}: {'–' if value is None else value}" for key, value in read.items()) or "none"

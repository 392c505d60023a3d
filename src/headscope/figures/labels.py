"""Words for dimensions, their values, special tokens and heads in figures and reports."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from typing import Any

WORDS = {
    "cls": "[CLS]",
    "sep": "[SEP]",
    "punct": "punctuation",
    "other": "other tokens",
    "pron": "pronoun",
    "subj": "subject",
    "obj": "object",
    "neg": "negation",
}
ESTIMATORS = {
    "michel": "Michel et al.",
    "michel_code": "code of Michel et al.",
    "text_pruner": "TextPruner",
    "run_bertology": "run_bertology.py of transformers",
}
ABBREVIATIONS = {
    "uas": "UAS",
    "uuas": "UUAS",
    "js": "Jensen-Shannon",
    "f1": "F1",
    "cls": "[CLS]",
    "sep": "[SEP]",
    "lora": "LoRA",
    "blimp": "BLiMP",
    "lama": "LAMA",
}
PHRASES = {
    "held out loss": "held-out loss",
    "attention offset": "attention to",
    "token attention": "attention",
    "token share": "share of tokens",
    "share total": "share of all maps",
    "restored score": "score by restored layers",
    "restored change": "change by restored layers",
}
# A block may be the whole map: near-even attention, as random weights have it.
PATTERNS = {"vertical_diagonal": "vertical + diagonal", "block": "near-even block"}
SEEDS = {
    "weights": "seed of new weights",
    "order": "seed of the order",
    "rest": "both together",
    "examples": "other dev examples",
}
# How a tree is read off attention.
TREES = {"left_out": "words alone", "kept": "special tokens kept", "gold": "gold root", "best": "best root"}
METRICS = {
    "similarity_agreement": "similarity agreement (Spearman)",
    **{name: f"{name.capitalize()} correlation" for name in ("pearson", "spearman", "matthews")},
}
NAMES = {"special_tokens": TREES, "root": TREES, "seed_source": SEEDS, "estimator": ESTIMATORS, "pattern": PATTERNS}
OFFSETS = {-1: "previous token", 0: "same token", 1: "next token"}


# Where a model has no such token.
NO_TOKEN = {"cls": "first token", "sep": "separator"}
SPECIAL: ContextVar[Mapping[str, str] | None] = ContextVar("the names of special tokens", default=None)


@contextmanager
def special_tokens(attributes: Mapping[Any, Any]) -> Iterator[None]:
    """Within this context words name the special tokens of a result's model, from its attribute `special_tokens`.

    Without the attribute they are those of BERT, [CLS] and [SEP].
    """
    try:
        names = json.loads(str(attributes.get("special_tokens", "{}")))
    except (ValueError, RecursionError):
        names = {}
    stated = names if isinstance(names, dict) else {}  # a file may hold anything
    token = SPECIAL.set({name: str(stated[name])[:40] or words for name, words in NO_TOKEN.items() if name in stated})
    try:
        yield
    finally:
        SPECIAL.reset(token)


def of_model(value: Any) -> Any:
    """A text, or all texts of a part of a page, with the names of the model's special tokens for [CLS] and [SEP].

    >>> with special_tokens({"special_tokens": '{"cls": "<bos>", "sep": ""}'}):
    ...     of_model("from [CLS]"), label("token_class", "sep"), name_in_words("cls_entropy")
    ('from <bos>', 'separator', '<bos> entropy')
    """
    names = {WORDS[kind]: name for kind, name in (SPECIAL.get() or {}).items() if WORDS[kind] != name}
    return _renamed(value, names) if names else value


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for default, name in names.items():
            value = value.replace(default, name)
        return value
    if type(value) in (tuple, list):
        return type(value)(_renamed(part, names) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return replace(value, **{name: _renamed(part, names) for name, part in parts.items()})
    return value


# Smaller numbers are what rounding leaves of 0.
NOTHING = 1e-9


def label(dim: str, value: object) -> str:
    """One value of a dimension, in words.

    >>> label("token_class", "sep"), label("offset", -1), label("relation", "verb_to_subject"), label("task", "mnli")
    ('[SEP]', 'previous token', 'verb → subject', 'mnli')
    >>> label("pattern", "block"), label("estimator", "michel_code"), label("task", "my_texts.tsv")
    ('near-even block', 'code of Michel et al.', 'my_texts.tsv')
    >>> label("special_tokens", "left_out"), label("root", "gold"), label("corpus", "en_gum.conllu")
    ('words alone', 'gold root', 'en_gum.conllu')
    """
    if dim == "offset":
        offset = int(str(value))
        return OFFSETS.get(offset, f"offset {offset:+d}")
    if dim in ("token_class", "feature"):
        return of_model(WORDS.get(str(value), str(value)))
    if dim in ("task", "corpus"):
        return str(value)  # a name of the user's, such as that of a file
    if dim in NAMES:
        return NAMES[dim].get(str(value), str(value))
    if dim == "metric" and str(value) in METRICS:
        return METRICS[str(value)]
    return name_in_words(str(value).replace("_to_", " → "))


def name_in_words(name: str) -> str:
    """The name of a variable or of a label in words.

    >>> name_in_words("js_divergence"), name_in_words("difference_cls_entropy"), name_in_words("uas")
    ('Jensen-Shannon divergence', 'difference in [CLS] entropy', 'UAS')
    """
    words = name.replace("difference_", "difference_in_", 1) if name.startswith("difference_") else name
    text = " ".join(ABBREVIATIONS.get(word, word) for word in words.replace("_", " ").split(" "))
    for phrase, plain in PHRASES.items():
        text = text.replace(phrase, plain)
    return of_model(text)


def with_labels(name: str, labels: Iterable[str]) -> str:
    """The name of a variable in words, with the words of its labels.

    >>> with_labels("attention_to", ["[CLS]"]), with_labels("share", ["diagonal"]), with_labels("entropy", [])
    ('attention to [CLS]', 'share: diagonal', 'entropy')
    >>> with_labels("difference_attention_offset", ["previous token", "tuned"])
    'difference in attention to previous token, tuned'
    """
    words, text = name_in_words(name), ", ".join(labels)
    return f"{words}{'' if words.endswith(' to') else ':'} {text}" if text else words


def significant(value: float, digits: int = 3) -> str:
    """A value with this many significant digits, or 0 for one that is so small that it is what rounding leaves of 0.

    >>> significant(0.123456), significant(-4.2e-11, 2), significant(2e-7), significant(float("nan"))
    ('0.123', '0', '2e-07', 'nan')
    """
    return f"{0.0 if abs(value) < NOTHING else value:.{digits}g}"


def from_to(low: float, high: float) -> str:
    """How far values reach, as a part of a sentence.

    >>> from_to(0.25, 0.75)
    'from 0.25 to 0.75'
    """
    return f"from {significant(low)} to {significant(high)}"


def title(dim: str) -> str:
    """A dimension as the title of an axis.

    >>> title("token_class")
    'Token class'
    """
    return dim.replace("_", " ").capitalize()


def head_name(layer: int, head: int) -> str:
    """A head as the papers write it.

    >>> head_name(8, 10)
    '8-10'
    """
    return f"{layer}-{head}"

"""Load the tokenizer that was saved: `tokenizer.json` counts where the class that transformers builds differs from it.

transformers 5 builds many classes anew from the vocabulary, and leaves out steps of the file that a class does not
know: a splitter of digits with GPT2Tokenizer, lower-casing with DebertaV2Tokenizer, a template with BertTokenizer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

FILE, SETTINGS = "tokenizer.json", "tokenizer_config.json"
# Digits, case, blanks, signs, accents in both forms, several scripts, and a character of four bytes.
PROBE = (
    "The cat didn't see 2,023 CATS in 12345.67 days...  It's  a “naïve” cafe\u0301 — e-mail: me@x.org/a_b?c=1&d\n\n"
    "\tÀ ﬁn ½ Straße ΣΊΣΥΦΟΣ Привет мир שלום مرحبا नमस्ते ภาษาไทย 我喜欢猫 私は猫が好き 한국어 😀 <b>``x''</b> $5 {i+=1} "
)
MOST_PIECES = 1_000
DIGIT = re.compile(r"\d")
# The steps that settings of `tokenizer_config.json` change: field of the step -> setting.
FIELDS = {
    "BertNormalizer": {
        "lowercase": "do_lower_case",
        "strip_accents": "strip_accents",
        "handle_chinese_chars": "tokenize_chinese_chars",
    },
    "ByteLevel": {"add_prefix_space": "add_prefix_space"},
}


def read_stored(folder: Path) -> dict[str, dict[str, Any]]:
    """The content of a tokenizer's JSON files by name, without files whose fault transformers names itself.

    They are read once: that of a large vocabulary has tens of megabytes.
    """
    files: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("tokenizer*.json")):
        with suppress(ValueError, RecursionError):
            content = json.loads(path.read_text(encoding="utf-8"))
            files |= {path.name: content} if isinstance(content, dict) else {}
    return files


def as_saved(
    tokenizer: PreTrainedTokenizerBase, folder: Path, files: Mapping[str, dict[str, Any]]
) -> PreTrainedTokenizerBase:
    """The tokenizer that transformers has loaded from a folder, or that of its `tokenizer.json` if they differ.

    Both cut a probe: digits, case, blanks, signs, scripts and special tokens, alone and in a pair. Special tokens of
    the folder and of the class are in both. A setting that `tokenizer_config.json` states, and that transformers
    follows, holds before the file.

    * `files`: what `read_stored` has read of the folder; it is changed.
    """
    kind = type(tokenizer)
    if kind is PreTrainedTokenizerFast or not isinstance(tokenizer, PreTrainedTokenizerFast):
        return tokenizer  # made from the file, or of Python alone
    if not kind.__module__.startswith("transformers.") or FILE not in files:
        return tokenizer  # made by the code of the folder, or without the file
    stored, settings = files[FILE], files.get(SETTINGS, {})
    text = _probe(tokenizer._tokenizer)
    cut = _cut(tokenizer._tokenizer, text)
    if _cut(_backend(tokenizer, stored), text) == cut:
        return tokenizer
    backend = _backend(tokenizer, _with_settings(stored, settings))
    if _cut(backend, text) == cut:
        return tokenizer
    names: dict[str, Any] = tokenizer.special_tokens_map
    saved: Any = PreTrainedTokenizerFast.from_pretrained(
        folder,
        local_files_only=True,
        tokenizer_object=backend,
        model_input_names=tokenizer.model_input_names,
        padding_side=tokenizer.padding_side,
        **names,
    )
    saved.replaced_class = kind.__name__
    return saved


def tokenizer_note(tokenizer: PreTrainedTokenizerBase) -> str:
    """A note if a tokenizer is not of the class that its folder names; "" if it is."""
    kind = getattr(tokenizer, "replaced_class", "")
    return f"of {FILE}; {kind}, as transformers builds it, cuts texts otherwise" if kind else ""


def _backend(tokenizer: PreTrainedTokenizerFast, stored: dict[str, Any]) -> Tokenizer:
    """The tokenizer of the file, with the added tokens of a loaded one."""
    stored["model"] |= {"dropout": None} if "dropout" in stored["model"] else {}  # pieces at random, for training
    backend: Any = Tokenizer.from_str(json.dumps(stored))
    for special, tokens in groupby(tokenizer.added_tokens_decoder.values(), attrgetter("special")):  # each call is slow
        (backend.add_special_tokens if special else backend.add_tokens)(list(tokens))
    if hasattr(tokenizer, "set_src_lang_special_tokens"):  # of the language that the settings name
        backend.post_processor = tokenizer.backend_tokenizer.post_processor
    return backend


def _with_settings(stored: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The stored tokenizer, its steps as the settings state them."""
    normalizers = list(steps(stored.get("normalizer")))
    for step in (*normalizers, *islice(steps(stored.get("pre_tokenizer")), 1)):  # a later one sees parts of a text
        stated = FIELDS.get(str(step.get("type")), {})
        step |= {field: settings[name] for field, name in stated.items() if isinstance(settings.get(name), bool)}
    lowers = any(step.get("type") in ("Lowercase", "BertNormalizer") for step in normalizers)
    if settings.get("do_lower_case") is True and not lowers:
        stored["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, *normalizers]}
    return stored


def _probe(backend: Any) -> str:
    """A text that steps may change, with pieces of the tokenizer: one that splits none of them changes nothing."""
    numbers = backend.get_vocab()
    digits = [number for piece, number in numbers.items() if len(piece) > 1 and DIGIT.search(piece)]
    some = [
        number
        for several in (digits, numbers.values())
        for number in sorted(several)[:: len(several) // MOST_PIECES + 1]
    ]
    added = (token.content for token in backend.get_added_tokens_decoder().values())
    return " ".join([PROBE, *added, *backend.decode_batch([[number] for number in some])])


def _cut(backend: Any, text: str) -> list[Any]:
    """The tokens and the type ids of a text, alone and in a pair."""
    backend.no_truncation()
    backend.no_padding()
    return [(encoding.ids, encoding.type_ids) for encoding in (backend.encode(text), backend.encode("A 12", text))]


def steps(part: object) -> Iterator[dict[str, Any]]:
    """The steps of a normalizer or pre-tokenizer and of the sequences in it, in their order."""
    if isinstance(part, dict):
        inner = [part.get(name) for name in ("normalizers", "pretokenizers")]
        sequences = [part for part in inner if isinstance(part, list)]
        if sequences:
            for part in sequences[0]:
                yield from steps(part)
        else:
            yield part

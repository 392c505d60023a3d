"""Texts are cut as `tokenizer.json` says, also where the class that transformers builds leaves out steps of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import headscope
from headscope.capture.transformers_logging import quiet
from headscope.models.saved_tokenizer import as_saved, read_stored, tokenizer_note
from support.loading import edit
from support.tiny import SPECIAL, save_tiny, tiny_vocabulary

TEXTS = ["The cat sat in 2023 .", "A  house,   OLD and\tNew 12", "b́ é [MASK] 3.5"]
LETTERS = dict.fromkeys([*tiny_vocabulary(), *sorted(pre_tokenizers.ByteLevel.alphabet()), "▁", "▁the"])
PIECES = {piece: number for number, piece in enumerate(LETTERS)}
VOCABULARY: dict[str, Any] = {
    "BPE": {"vocab": PIECES | {"20": 900, "202": 901}, "merges": [("2", "0"), ("20", "2")]},
    "WordPiece": {"vocab": PIECES},
    "Unigram": {"vocab": [(piece, 0.0 if piece in SPECIAL else -5.0) for piece in PIECES]},
}
NAMES = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))


def folder_of(folder: Path, name: str, change: Callable[[Tokenizer], None] | None = None, **settings: Any) -> Path:
    """The folder of a tokenizer of a class, whose backend was changed, and its settings in tokenizer_config.json."""
    kind = getattr(transformers, name)
    with quiet():
        tokenizer = kind(**VOCABULARY[kind.model.__name__], **NAMES, bos_token="[CLS]", eos_token="[SEP]")
        if change:
            change(tokenizer._tokenizer)
        tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    stated = json.loads(path.read_text())
    for setting in ("do_lower_case", "add_prefix_space"):  # written along, and stated by nobody
        stated.pop(setting, None)
    path.write_text(json.dumps(stated | settings))
    return folder


def loaded(name: str, folder: Path) -> tuple[Any, Any]:
    """The tokenizer that transformers builds, and that which headscope reads."""
    with quiet():
        built = getattr(transformers, name).from_pretrained(folder)
        return built, as_saved(built, folder, read_stored(folder))


def digits(backend: Any) -> None:
    backend.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), backend.pre_tokenizer])


def lower(backend: Any) -> None:
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), backend.normalizer])


def blanks(backend: Any) -> None:
    backend.normalizer = normalizers.Replace(Regex(r"\s"), "a")


def bare(backend: Any) -> None:
    backend.post_processor = TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])


DROPPED: dict[str, tuple[str, Callable, dict[str, Any]]] = {
    "digits of GPT-2": ("GPT2Tokenizer", digits, {}),
    "digits of GPT-NeoX": ("GPTNeoXTokenizer", digits, {"add_prefix_space": False}),
    "case of DeBERTa": ("DebertaV2Tokenizer", lower, {"do_lower_case": False}),
    "blanks of ALBERT": ("AlbertTokenizer", blanks, {}),
    "template of BERT": ("BertTokenizer", bare, {}),
}


@pytest.mark.parametrize("case", DROPPED)
def test_steps_that_transformers_leaves_out_are_those_of_the_file(case: str, tmp_path: Path) -> None:
    name, change, settings = DROPPED[case]
    built, saved = loaded(name, folder_of(tmp_path, name, change, **settings))
    right = [Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode(text).ids for text in TEXTS]
    assert built(TEXTS)["input_ids"] != right == saved(TEXTS)["input_ids"]
    assert tokenizer_note(saved) == f"of tokenizer.json; {name}, as transformers builds it, cuts texts otherwise"
    for attribute in ("special_tokens_map", "model_input_names", "padding_side", "model_max_length"):
        assert getattr(saved, attribute) == getattr(built, attribute)
    with quiet():
        saved.save_pretrained(tmp_path / "again")
        assert AutoTokenizer.from_pretrained(tmp_path / "again")(TEXTS)["input_ids"] == right


def padded(backend: Any) -> None:
    backend.enable_padding(length=9)
    backend.enable_truncation(4)


@pytest.mark.parametrize("name", ["GPT2", "GPTNeoX", "DebertaV2", "Albert", "Bert", "Roberta", "XLMRoberta", "Llama"])
@pytest.mark.parametrize("change", [None, padded])
def test_a_class_that_cuts_as_its_file_stays(name: str, change: Callable | None, tmp_path: Path) -> None:
    """The state of padding and truncation in the file is no difference."""
    built, saved = loaded(f"{name}Tokenizer", folder_of(tmp_path, f"{name}Tokenizer", change))
    assert saved is built and tokenizer_note(saved) == ""


STATED: dict[str, tuple[str, dict[str, Any]]] = {
    "a blank before GPT-2": ("GPT2Tokenizer", {"add_prefix_space": True}),
    "case of BERT": ("BertTokenizer", {"do_lower_case": False}),
    "accents of BERT": ("BertTokenizer", {"strip_accents": False}),
    "case of DeBERTa": ("DebertaV2Tokenizer", {"do_lower_case": True}),
    "a token more": ("GPT2Tokenizer", {"mask_token": "<new>"}),
}


@pytest.mark.parametrize("case", STATED)
def test_a_setting_that_the_folder_states_holds_before_the_file(case: str, tmp_path: Path) -> None:
    name, settings = STATED[case]
    built, saved = loaded(name, folder_of(tmp_path, name, **settings))
    texts = ["The É <new> cat"]
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode(texts[0]).ids != built(texts)["input_ids"][0]
    assert saved is built


def test_a_stated_setting_holds_beside_a_step_that_transformers_leaves_out(tmp_path: Path) -> None:
    def apart(backend: Any) -> None:
        backend.pre_tokenizer = pre_tokenizers.Sequence([backend.pre_tokenizer, pre_tokenizers.Digits(True)])

    built, saved = loaded("BertTokenizer", folder_of(tmp_path, "BertTokenizer", apart, do_lower_case=False))
    assert built.tokenize("A 23") == ["A", "2", "##3"] and saved.tokenize("A 23") == ["A", "2", "3"]


def test_tokens_that_the_settings_add_are_in_the_tokenizer_of_the_file(tmp_path: Path) -> None:
    token = AddedToken("<new>", special=True)
    folder = folder_of(tmp_path, "GPT2Tokenizer", digits, extra_special_tokens=[token.content])
    built, saved = loaded("GPT2Tokenizer", folder)
    assert saved.convert_tokens_to_ids("<new>") == built.convert_tokens_to_ids("<new>") == len(PIECES) + 2
    assert "<new>" in saved.tokenize("a <new> 20") and saved.tokenize("20") == ["2", "0"]


def test_without_the_file_the_class_stays(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "BertTokenizer")
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    built, saved = loaded("BertTokenizer", folder)
    assert saved is built


def test_a_result_says_that_the_class_was_not_used(tmp_path: Path) -> None:
    with quiet():
        folder = save_tiny(tmp_path)
    edit(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer")
    stored = json.loads((folder / "tokenizer.json").read_text())
    edit(folder / "tokenizer.json", pre_tokenizer={"type": "Sequence", "pretokenizers": [
        stored["pre_tokenizer"], {"type": "Digits", "individual_digits": True}]})  # fmt: skip
    model = headscope.load(str(folder))
    assert type(model.tokenizer) is PreTrainedTokenizerFast
    result = headscope.profile(model, ["The cat sat.", "A dog ran."], examples=0)
    note = "of tokenizer.json; BertTokenizer, as transformers builds it, cuts texts otherwise"
    assert result.attrs["tokenizer"] == note
    assert headscope.compare([model, headscope.load(str(folder))], ["A dog ran."]).attrs["tokenizer"].endswith(note)

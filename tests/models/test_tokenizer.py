"""A tokenizer that makes texts far longer, or has token types that the model lacks, is refused in one line."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from tokenizers import Regex, normalizers
from transformers import PreTrainedTokenizerBase

import headscope
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models import load
from headscope.models.checkpoint import locate
from headscope.models.tokenizer import growth, load_tokenizer
from support.loading import edit
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer, tiny_vocabulary

DOUBLED = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with quiet():
        return save_tiny(tmp_path / "model")


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "Sequence", "normalizers": [DOUBLED] * 24}},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [DOUBLED] * 24}]}},
        {"normalizer": DOUBLED | {"content": "a" * 10_001}},
        {"normalizer": {"type": "Sequence", "normalizers": [DOUBLED | {"pattern": {"Regex": "x*"}}] * 24}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] * 24}},
    ],
)
def test_a_tokenizer_that_makes_texts_far_longer_is_refused_before_it_is_used(folder, changes, never: Callable) -> None:
    edit(folder / "tokenizer.json", **changes)
    never("transformers.AutoTokenizer.from_pretrained")
    with pytest.raises(HeadscopeError) as error:
        load_tokenizer(locate(str(folder)))
    assert "makes a text more than 10,000 times as long; save the" in str(error.value)


def test_the_files_of_a_tokenizer_are_read_and_kept_once(folder: Path) -> None:
    edit(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer")
    with patch.object(Path, "read_text", autospec=True, side_effect=Path.read_text) as read:
        tokenizer = load_tokenizer(locate(str(folder)))
    assert not {"_vocab", "_merges"} & vars(tokenizer).keys()
    names = [call.args[0].name for call in read.call_args_list]
    assert names.count("tokenizer.json") == names.count("tokenizer_config.json") == 1


def with_token(special: bool) -> PreTrainedTokenizerBase:
    """A tokenizer with one piece more than `tiny_bert` has rows."""
    tokenizer: Any = tiny_tokenizer()
    (tokenizer.backend_tokenizer.add_special_tokens if special else tokenizer.backend_tokenizer.add_tokens)(["<image>"])
    return tokenizer


def test_a_special_token_beyond_the_embedding_is_refused_where_a_text_has_it(tmp_path: Path) -> None:
    """As in Gemma 3; in a folder, and in memory."""
    last = len(tiny_vocabulary())
    with quiet():
        save_tiny(tmp_path / "model")
        with_token(special=True).save_pretrained(tmp_path / "model")
    for model in (load(str(tmp_path / "model")), headscope.wrap(tiny_bert(), with_token(special=True))):
        assert model.tokenizer("<image>", add_special_tokens=False)["input_ids"] == [last]
        assert "entropy" in headscope.profile(model, ["The cat sat."] * 2, resamples=10)
        with pytest.raises(HeadscopeError) as error:
            headscope.profile(model, ["The cat sat.", "A dog saw <image>."], resamples=10)
        assert str(error.value) == (
            f"a text holds <image>, which model '{model.name}' has no embedding of; remove it from the text"
        )


def test_a_larger_tokenizer_is_refused_in_memory_as_in_a_folder() -> None:
    last = len(tiny_vocabulary())
    with pytest.raises(
        HeadscopeError, match=f"has the token id {last}, the embedding ends at {last - 1}; give its own"
    ):
        headscope.wrap(tiny_bert(), with_token(special=False))
    with pytest.raises(HeadscopeError, match=f"has the token id {last - 1}, the embedding ends at 39; "):
        headscope.wrap(tiny_bert(vocab_size=40), tiny_tokenizer())


def test_usual_normalizers_are_within_the_bound() -> None:
    """The steps of ALBERT, and signs that become several, one after the other."""
    signs = [("…", "..."), ("½", "1/2"), ("¼", "1/4"), ("™", "(tm)"), ("—", " - ")]
    albert = [
        *[normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD()],
        *[normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " ")],
    ]
    for steps in (albert, [normalizers.Replace(*sign) for sign in signs * 3]):
        assert growth(json.loads(normalizers.Sequence(steps).__getstate__())["normalizers"]) <= 72


def test_no_text_becomes_longer_than_the_bound() -> None:
    random = Random(0)
    for _ in range(500):
        steps = []
        for _ in range(random.randint(1, 5)):
            old, new = ("".join(random.choices("abc", k=random.randint(least, 3))) for least in (1, 0))
            steps.append(normalizers.Replace(Regex(old.replace("c", ".*?")) if random.random() < 0.3 else old, new))
        normalizer, text = normalizers.Sequence(steps), "".join(random.choices("abcd", k=30))
        bound = growth(json.loads(normalizer.__getstate__())["normalizers"])
        # a pattern that matches nothing is put at the end, too
        assert len(normalizer.normalize_str(text)) <= bound * (len(text) + 1)


def template(folder: Path, single: int, pair: int) -> None:
    """Write a tokenizer with these types of the last token of a text, and of the second text of a pair."""
    stored = json.loads((folder / "tokenizer.json").read_text())["post_processor"]
    stored["single"][-1]["SpecialToken"]["type_id"] = single
    stored["pair"][3]["Sequence"]["type_id"] = pair
    edit(folder / "tokenizer.json", post_processor=stored)


def test_a_type_of_tokens_that_the_model_lacks_is_refused(folder: Path) -> None:
    template(folder, single=7, pair=1)
    with pytest.raises(HeadscopeError) as error:
        load(str(folder))
    assert "has the type id 7, the embedding of types ends at 1; save" in str(error.value)


def test_types_of_pairs_that_the_model_lacks_are_refused_where_pairs_are_read(folder: Path) -> None:
    template(folder, single=0, pair=2)
    model = load(str(folder))
    headscope.profile(model, ["The cat sat.", "A dog ran."])
    inputs = model.tokenizer("a", "b", return_tensors="pt")
    with pytest.raises(HeadscopeError, match="has the type id 2, the embedding of types ends at 1"):
        model.network(**inputs)


def test_types_that_the_model_has_cost_no_check(folder: Path) -> None:
    assert not load(str(folder)).network._forward_pre_hooks


def test_a_tokenizer_that_panics_is_refused(folder: Path) -> None:
    """A panic of Rust is no `Exception` in Python."""
    stored = json.loads((folder / "tokenizer.json").read_text())["post_processor"]
    stored["pair"][-1]["SpecialToken"]["id"] = "[NONE]"
    edit(folder / "tokenizer.json", post_processor=stored)
    with pytest.raises(HeadscopeError) as error:
        load(str(folder))
    assert "reads no text (no entry found for key); save it again" in str(error.value)


def test_a_vocabulary_without_a_mask_is_read_and_words_are_not_masked(tmp_path: Path) -> None:
    """The class of the tokenizer adds a [MASK] behind the vocabulary, beyond the model's embedding."""
    words = [word for word in tiny_vocabulary() if word != "[MASK]"]
    with quiet():
        tiny_bert(num_hidden_layers=1, vocab_size=len(words)).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    model = load(str(tmp_path))
    (note,) = model.notes
    assert "no [MASK]" in note
    assert max(model.tokenizer("a [MASK] b").input_ids) < len(words) == len(model.tokenizer)
    assert headscope.profile(model, ["a [MASK] b"] * 3, resamples=5, examples=0).sizes["layer"] == 1
    with pytest.raises(HeadscopeError, match="its tokenizer has no mask"):
        headscope.gradients(model, ["a b"] * 3)

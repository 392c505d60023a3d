"""A smaller vocabulary of merges or of probable pieces reads what it can as before, and loses no character."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE, Unigram
from tokenizers.processors import RobertaProcessing
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

import headscope
from headscope import HeadscopeError
from headscope.models.removable_parts import Kept
from headscope.models.smaller import cut
from headscope.models.smaller_vocabulary import (
    Merges,
    can_lose_pieces,
    kept_pieces,
    merges_of,
    needed_pieces,
    with_pieces,
)
from headscope.studies.size.shrink import vocabulary
from headscope.studies.size.shrink.texts import encode
from headscope.studies.size.shrink.vocabulary import held_out_counts, pieces_to_keep
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

TEXTS = [
    "the lower river is slower than the lowest road and the newest road is wider",
    "she told the child that the old tree was the tallest in the town of the river",
    "they walked and talked, they sat and waited; he waited longer than they walked",
    "a small house near the river, a smaller house near the road, the smallest garden",
]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
KINDS = ("bytes", "roberta", "suffix", "spaces", "probable")
BYTES = [f"<0x{number:02X}>" for number in range(256)]


def backend_of(kind: str) -> Tokenizer:
    """A tokenizer trained on the texts."""
    options: dict[str, Any] = {"special_tokens": SPECIAL, "show_progress": False}
    if kind in ("bytes", "roberta"):
        backend = Tokenizer(BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=kind == "roberta")
        backend.decoder = decoders.ByteLevel()
        letters = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=letters, **options)
    elif kind == "suffix":
        backend = Tokenizer(BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        backend.decoder = decoders.BPEDecoder(suffix="</w>")
        trainer = trainers.BpeTrainer(vocab_size=200, end_of_word_suffix="</w>", **options)
    elif kind == "spaces":
        backend = Tokenizer(BPE(unk_token="<unk>", byte_fallback=True))
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
        backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
        trainer = trainers.BpeTrainer(vocab_size=450, special_tokens=[*SPECIAL, *BYTES], show_progress=False)
    else:
        backend = Tokenizer(Unigram())
        backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=120, unk_token="<unk>", **options)
    backend.train_from_iterator(TEXTS, trainer)
    if kind == "spaces":  # bytes are ordinary pieces, as in Llama
        content = json.loads(backend.to_str())
        backend = Tokenizer.from_str(json.dumps(content | {"added_tokens": content["added_tokens"][: len(SPECIAL)]}))
    if kind == "roberta":
        backend.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    return backend


@cache
def tokenizer_of(kind: str) -> PreTrainedTokenizerBase:
    """The tokenizer as transformers has it."""
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), SPECIAL, strict=True))
    if kind == "bytes":
        names.pop("unk_token")
    return PreTrainedTokenizerFast(tokenizer_object=backend_of(kind), model_max_length=128, **names)


@cache
def smaller_of(kind: str, texts: tuple[str, ...]) -> tuple[PreTrainedTokenizerBase, tuple[int, ...]]:
    """The tokenizer with the pieces of some texts, and the ids that it keeps."""
    tokenizer = tokenizer_of(kind)
    used = {number for text in texts for number in tokenizer(text)["input_ids"]}
    kept = kept_pieces(tokenizer, used)
    return with_pieces(tokenizer, kept, 128), kept


words = st.lists(st.sampled_from(sorted({word for text in TEXTS for word in text.split()})), min_size=1, max_size=6)
any_text = words.map(" ".join) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(text=any_text, kept_texts=st.sampled_from([(TEXTS[0],), (TEXTS[1], TEXTS[3])]))
def test_text_of_kept_pieces_is_read_as_before(kind: str, text: str, kept_texts: tuple[str, ...]) -> None:
    tokenizer = tokenizer_of(kind)
    smaller, kept = smaller_of(kind, kept_texts)
    before, after = tokenizer(text)["input_ids"], smaller(text)["input_ids"]
    if set(before) <= set(kept):
        assert [kept[number] for number in after] == before
    assert after.count(smaller.unk_token_id) == before.count(tokenizer.unk_token_id) or tokenizer.unk_token_id is None
    assert smaller.decode(after) == tokenizer.decode(before)


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_bytes_decode_to_the_text_itself(text: str) -> None:
    smaller, _ = smaller_of("bytes", (TEXTS[0],))
    backend: Any = smaller
    assert backend.backend_tokenizer.decode(smaller(text)["input_ids"], skip_special_tokens=False) == text


@pytest.mark.parametrize("kind", KINDS)
def test_merges_stay_whose_parts_and_result_stay(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    smaller, kept = smaller_of(kind, (TEXTS[0],))
    assert can_lose_pieces(tokenizer) and needed_pieces(tokenizer) <= set(kept)
    assert len(smaller) == len(kept) < len(tokenizer)
    assert smaller.convert_ids_to_tokens([*range(len(kept))]) == tokenizer.convert_ids_to_tokens([*kept])
    model = model_of(smaller)
    if model["type"] == "BPE":
        merges, before = merges_of(model), merges_of(model_of(tokenizer))
        pieces = smaller.get_vocab()
        expected = [pair for pair in before.ranks if {*pair, before.joined(pair)} <= set(pieces)]
        assert list(merges.ranks) == expected and len(expected) < len(before.ranks)


def model_of(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """The model of a tokenizer's file."""
    backend: Any = tokenizer
    return json.loads(backend.backend_tokenizer.to_str())["model"]


def test_pieces_on_the_way_are_those_of_the_merges_that_come_first() -> None:
    ranks = [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc"), ("c", "d</w>")]
    merges = Merges({pair: rank for rank, pair in enumerate(ranks)}, "", "</w>")
    assert merges.made_of("abc") == {"a", "b", "c", "ab", "abc"}
    assert merges.made_of("abcd</w>") == {"a", "b", "c", "d</w>", "ab", "abc", "abcd</w>"}
    later = Merges({("a", "##b"): 0, ("##c", "##d"): 1}, "##", "")
    assert later.joined(("a", "##b")) == "ab" and later.made_of("##cd") == {"##c", "##d", "##cd"}


def test_shrinking_a_model_counts_what_is_read_in_other_pieces() -> None:
    model = headscope.wrap(
        tiny_gpt2(vocab_size=400, bos_token_id=0, eos_token_id=2, pad_token_id=1), tokenizer_of("bytes")
    )
    searched, held_out = (encode(model, tuple(headscope.read(texts))) for texts in (TEXTS[:2], TEXTS[2:]))
    kept = pieces_to_keep(model, searched, 0)
    assert kept is not None and len(kept) < 400
    smaller = cut(model, Kept(pieces=kept))
    after = encode(smaller, tuple(headscope.read(TEXTS[2:])))
    counts = held_out_counts(model, smaller, held_out, after)
    assert counts["unknown"] == 0 and counts["changed_texts"] == 1
    assert counts["more_tokens"] == sum(map(len, after)) - sum(map(len, held_out)) > 0
    assert encode(smaller, tuple(headscope.read(TEXTS[:2])))[0].inputs["input_ids"].tolist() == [
        kept.index(number) for number in searched[0].inputs["input_ids"].tolist()
    ]


def bert_with_added_tokens(folder: Path) -> PreTrainedTokenizerBase:
    """A tokenizer of BERT's class with two added words and a special token."""
    tiny_tokenizer().save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tokenizer_class": "BertTokenizer"}))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["covid", "[e1]"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["[HEAD]"]})
    return tokenizer


def test_added_tokens_are_read_as_before_and_a_tokenizer_that_would_not_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer, text = bert_with_added_tokens(tmp_path), "a covid [e1] [HEAD] dog"
    model = headscope.wrap(tiny_bert(num_hidden_layers=1, vocab_size=len(tokenizer)), tokenizer)
    examples = tuple(headscope.read([text, "a dog"]))
    inputs = encode(model, examples)
    kept = pieces_to_keep(model, inputs, 0, examples)
    assert kept is not None
    smaller, broken = (with_pieces(tokenizer, kept, 64) for _ in range(2))
    assert [kept[number] for number in smaller(text)["input_ids"]] == tokenizer(text)["input_ids"]
    backend: Any = broken
    backend.backend_tokenizer.normalizer = normalizers.Replace("dog", "cat")
    monkeypatch.setattr(vocabulary, "with_pieces", lambda *_: broken)
    with pytest.raises(HeadscopeError, match=r"would read text differently .*; leave vocabulary out of --parts"):
        pieces_to_keep(model, inputs, 0, examples)

"""Texts that a vocabulary lacks are said, and refused where no finding can come of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

import headscope
from headscope import HeadscopeError, Settings
from headscope.passes import Pass
from headscope.passes.coverage import unknown_line
from headscope.report.facts import summary
from support.tiny import tiny_bert, tiny_tokenizer

GOOD, BAD = "a dog ran to the house.", "\u5317\u4eac \u4e0a\u6d77 \u6771\u4eac"


def test_a_tenth_of_unknown_tokens_is_said_and_a_half_is_refused(tmp_path: Path) -> None:
    model, lines = headscope.wrap(tiny_bert(num_hidden_layers=1), tiny_tokenizer()), list[str]()
    quick = Settings(resamples=10, on_notice=lines.append)
    few = headscope.profile(model, headscope.read([GOOD] * 40 + [BAD]), quick, examples=0)
    assert not lines and "unknown_tokens" not in few.attrs
    some = headscope.profile(model, headscope.read([GOOD] * 3 + [BAD]), quick, examples=0)
    assert "of its tokens are unknown to the model" in lines[0] and lines[0] == some.attrs["unknown_tokens"]
    assert dict(summary(some))["Caution"] == lines[0]
    with pytest.raises(HeadscopeError, match=r"100% of its tokens are unknown .* use other texts or another tokenizer"):
        Pass(model, headscope.read([BAD] * 3), replace(quick, workers=2)).measure(["entropy"]).read()


@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        (["A", "DOG"], "its vocabulary has no small letters"),
        (["A", "C"], "its pieces are single letters, but not all: put blanks between them, or read with --kind fasta"),
        (["a", "dog"], "its vocabulary has no capitals: is 'do_lower_case' of its tokenizer off?"),
        (["a", "Dog"], "its vocabulary may lack their script or language"),
    ],
)
def test_the_likely_reason_is_named(pieces: list[str], reason: str) -> None:
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", *pieces])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer: PreTrainedTokenizerBase = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]")
    assert unknown_line("texts", tokenizer, 2, 10, 2).endswith(reason)
    assert unknown_line("texts", tokenizer, 1, 10, 2) == ""
